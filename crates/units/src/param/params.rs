//! The macro that defines a struct of parameters from one description.

/// Define a struct of parameters, as described in the module `param`. The syntax of a field is
/// `name: Type = (default) | required | preset, in RANGE, from "source";`. A key that is declared
/// as `preset` is required, unless a preset gives its value. With `shorthand for name`, a text is
/// accepted in place of the table. The text stands for a table in which only the key `name` is set.
/// With `renamed by LIST`, a scenario that contains an old key from `LIST` is refused. The error
/// names the new key that replaces the old key.
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $doc:literal])+
        pub struct $Name:ident $(<$T:ident: $Bound:path>)?: $key:literal
            $(, checked by $check:path)? $(, shorthand for $first:ident)? $(, renamed by $renamed:path)? {
            $( $(#[doc = $fdoc:literal])+
               $field:ident: $ty:ty = $default:tt, in $range:expr, from $source:literal; )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name $(<$T: $Bound>)? { $( $(#[doc = $fdoc])+ pub $field: $ty, )* }

        impl $(<$T: $Bound>)? $crate::param::Params for $Name $(<$T>)? {
            const KEY: &'static str = $key;
            const KEYS: &'static [&'static str] = &[$($crate::param::key(stringify!($field))),*];
            $( const RENAMED: &'static [$crate::param::Renamed] = $renamed; )?
            fn about() -> String {
                $crate::param::doc_text(&[$($doc),+])
            }
            #[allow(unused_variables)]
            fn shorthand_of(key: &str) -> Option<&'static str> {
                $( if key == $crate::param::key(stringify!($field)) {
                    return <$ty as $crate::param::Read>::SHORTHAND;
                } )*
                None
            }
            fn params() -> Vec<$crate::param::Param> {
                vec![$( $crate::param::Param {
                    name: $crate::param::key(stringify!($field)),
                    unit: <$ty as $crate::param::Read>::UNIT,
                    default: $crate::params!(@default $default, $ty)
                        .map(|d| $crate::param::Read::write(&d)),
                    required: $crate::params!(@required $default),
                    range: { let range: $crate::param::Range = $range;
                             range.describe(<$ty as $crate::param::Read>::UNIT) },
                    meaning: $crate::param::doc_text(&[$($fdoc),+]),
                    source: $source,
                    schema: <$ty as $crate::param::Read>::schema(),
                }, )*]
            }
        }

        impl $(<$T: $Bound>)? $crate::param::Read for $Name $(<$T>)? {
            $( const SHORTHAND: Option<&'static str> = Some(stringify!($first)); )?
            #[allow(unused_variables)]
            fn read(value: &$crate::param::Json, path: &str) -> Result<Self, $crate::param::Invalid> {
                let value = $crate::param::longhand(value, <Self as $crate::param::Read>::SHORTHAND);
                let map = $crate::param::table::<Self>(&value, path)?;
                $( let $field = {
                    let key = $crate::param::key(stringify!($field));
                    let path = $crate::param::join(path, key);
                    let written = map.get(key);
                    let field: $ty = match written {
                        Some(v) => $crate::param::Read::read(v, &path)?,
                        None => $crate::params!(@default $default, $ty).ok_or_else(|| {
                            $crate::param::missing::<$ty>(&path, &$crate::param::doc_text(&[$($fdoc),+]))
                        })?,
                    };
                    let range: $crate::param::Range = $range;
                    range.check(&field, written, &path)?;
                    field
                }; )*
                let this = $Name { $($field),* };
                $( $check(&this, path)?; )?
                Ok(this)
            }
            fn write(&self) -> $crate::param::Json {
                #[allow(unused_mut)]
                let mut map = $crate::param::JsonMap::new();
                $( map.insert($crate::param::key(stringify!($field)).into(), $crate::param::Read::write(&self.$field)); )*
                $crate::param::Json::Object(map)
            }
            fn schema() -> $crate::param::Json {
                $crate::param::struct_schema::<Self>()
            }
        }
    };
    (@default required, $ty:ty) => { None::<$ty> };
    (@default preset, $ty:ty) => { None::<$ty> };
    (@required required) => { true };
    (@required preset) => { false };
    (@required ($default:expr)) => { false };
    (@default ($default:expr), $ty:ty) => { Some::<$ty>($default) };
}
