//! Choice among names.

/// Define a choice among names. An example is `words! { /// doc pub enum E { /// doc A = "a", } }`.
#[macro_export]
macro_rules! words {
    ( $(#[doc = $doc:literal])+ pub enum $Name:ident {
        $( $(#[doc = $vdoc:literal])+ $Variant:ident = $word:literal, )+
    } ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name { $( $(#[doc = $vdoc])+ $Variant, )+ }

        impl $crate::param::Read for $Name {
            fn read(value: &$crate::param::Json, path: &str) -> Result<Self, $crate::param::Invalid> {
                match value.as_str() {
                    $( Some($word) => Ok($Name::$Variant), )+
                    other => Err($crate::param::Invalid::new(path, value, "is not one of the choices")
                        .remedy($crate::param::did_you_mean(other.unwrap_or(""), &[$($word),+]))),
                }
            }
            fn write(&self) -> $crate::param::Json {
                match self { $( $Name::$Variant => $crate::param::Json::from($word), )+ }
            }
            fn schema() -> $crate::param::Json {
                $crate::param::words_schema(&[$( ($word, $crate::param::doc_text(&[$($vdoc),+])), )+])
            }
        }
    };
}
