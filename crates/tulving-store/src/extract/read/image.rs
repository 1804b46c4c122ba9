//! Checks the format of an image and the number of pixels in its header before another program decodes it.

use imagesize::ImageType;
use tulving_core::model::error::ExtractError;

/// Refuses unknown formats, and images with more than `most` pixels.
pub(super) fn check(bytes: &[u8], most: u64) -> Result<(), ExtractError> {
    let damaged = |why: &str| ExtractError::Damaged { why: why.to_owned() };
    let form = imagesize::image_type(bytes).map_err(|_| damaged("it is an image of an unknown format"))?;
    let known = matches!(
        form,
        ImageType::Png
            | ImageType::Jpeg
            | ImageType::Webp
            | ImageType::Tiff
            | ImageType::Gif
            | ImageType::Bmp
    );
    if !known {
        return Err(damaged("its image format differs from its name"));
    }
    let size = imagesize::blob_size(bytes).map_err(|_| damaged("it does not say how large it is"))?;
    let pixels = (size.width as u64).saturating_mul(size.height as u64);
    match pixels {
        0 => Err(damaged("it has no pixels")),
        pixels if pixels > most => Err(ExtractError::TooLarge {
            why: format!("the image has {} × {} pixels and the limit is {most}", size.width, size.height),
        }),
        _ => Ok(()),
    }
}
