//! Choice among several structs of parameters.

/// Define a choice among several [`Params`](crate::Params) structs, which the key `kind` selects.
/// If a scenario has a text in place of the table, the text is the kind, and every parameter has
/// its default.
#[macro_export]
macro_rules! choice {
    ( $(#[doc = $doc:literal])+ pub enum $Name:ident { $( $Variant:ident($Ty:ty), )+ } ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Name { $(
            #[doc = concat!("See [`", stringify!($Ty), "`].")]
            $Variant($Ty),
        )+ }

        impl $Name {
            /// Return one manual page for each variant of this enum.
            pub fn pages() -> Vec<$crate::param::Json> {
                vec![$( $crate::param::page::<$Ty>() ),+]
            }

            /// Return the names of the parameters of a kind, or `None` if the kind does not exist.
            pub fn keys_of(kind: &str) -> Option<&'static [&'static str]> {
                $( if kind == <$Ty as $crate::param::Params>::KEY {
                    return Some(<$Ty as $crate::param::Params>::KEYS);
                } )+
                None
            }
        }

        impl $crate::param::Read for $Name {
            fn read(value: &$crate::param::Json, path: &str) -> Result<Self, $crate::param::Invalid> {
                let (kind, rest) = $crate::param::split_kind(
                    value, path, &[$(<$Ty as $crate::param::Params>::KEY),+])?;
                $( if kind == <$Ty as $crate::param::Params>::KEY {
                    return <$Ty as $crate::param::Read>::read(&rest, path).map($Name::$Variant);
                } )+
                unreachable!("split_kind returns a known kind")
            }
            fn write(&self) -> $crate::param::Json {
                match self { $( $Name::$Variant(x) => $crate::param::with_kind(x), )+ }
            }
            fn schema() -> $crate::param::Json {
                $crate::param::choice_schema(vec![
                    $( (<$Ty as $crate::param::Params>::KEY, <$Ty as $crate::param::Read>::schema()) ),+
                ])
            }
        }
    };
}
