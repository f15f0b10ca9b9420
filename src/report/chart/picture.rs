//! Pictures of charts: the very SVG, rendered with a typeface that is part of the program, so that
//! every machine makes the same.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::error::Error;

/// Pixels of the picture for one of the drawing.
const SCALE: f32 = 2.0;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// The picture of a chart on white, at twice its size, as a PNG file.
///
/// # Errors
/// If `svg` is no SVG, or too large for the memory.
pub fn png(svg: &str) -> Result<Vec<u8>, Error> {
    let failed = |cause: &dyn std::fmt::Display| Error::failed("make a picture of a chart", cause);
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|cause| failed(&cause))?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| failed(&"it has no size that fits a picture"))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|cause| failed(&cause))
}
