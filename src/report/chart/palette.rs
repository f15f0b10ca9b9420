//! The colours of every chart, each with its counterpart on a dark page. The colours of algorithms
//! stay apart for the colour-blind (after Okabe and Ito, with their vermilion kept for what goes over
//! a limit), and one algorithm has one colour in every chart.

use std::fmt::Write as _;

/// A colour on white paper, and what stands for it on a dark page; both `0xRRGGBB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour {
    /// On white.
    pub light: u32,
    /// On a dark page.
    pub dark: u32,
}

impl Colour {
    const fn new(light: u32, dark: u32) -> Colour {
        Colour { light, dark }
    }

    /// Red, green and blue on white.
    pub fn rgb(self) -> (u8, u8, u8) {
        channels(self.light)
    }

    /// The colour moved towards another by `tenths` of the way, on both pages.
    fn towards(self, to: Colour, tenths: u32) -> Colour {
        Colour::new(mix(self.light, to.light, tenths), mix(self.dark, to.dark, tenths))
    }
}

/// The page.
pub const PAPER: Colour = Colour::new(0xFFFFFF, 0x16191D);
/// Text, and the line of a limit.
pub const INK: Colour = Colour::new(0x1B1F24, 0xE8EAED);
/// Text of lesser weight.
pub const MUTED: Colour = Colour::new(0x59616B, 0xA3ABB5);
/// Lines that guide the eye.
pub const GRID: Colour = Colour::new(0xE3E6EA, 0x2E343B);
/// What was offered and not accepted.
pub const REFUSED: Colour = Colour::new(0xC9CED5, 0x4A525C);
/// What a client gave up waiting for.
pub const GIVEN_UP: Colour = Colour::new(0x5C6672, 0xA6AFBA);
/// What still waits in a queue when the run ends.
pub const PENDING: Colour = Colour::new(0x8D96A1, 0x79828D);
/// What goes over a limit, as a surface.
pub const OVER: Colour = Colour::new(0xD55E00, 0xF07A28);
/// What goes over a limit, as text.
pub const OVER_TEXT: Colour = Colour::new(0xB04300, 0xFF9B57);

/// By position in the registry of algorithms; further ones begin again, in other shades.
const KINDS: [Colour; 7] = [
    Colour::new(0x0072B2, 0x4DA6E0),
    Colour::new(0x009E73, 0x2CBF94),
    Colour::new(0x56B4E9, 0x8CD0F5),
    Colour::new(0xCC79A7, 0xE29CC2),
    Colour::new(0xE69F00, 0xF2B632),
    Colour::new(0x44337A, 0xA493EA),
    Colour::new(0x7A6A3A, 0xC4B27C),
];

/// The colour of an algorithm: `kind` is its position in the registry, `variant` tells apart those
/// of one kind within a case (0 the first), by shade.
pub fn of_algorithm(kind: usize, variant: usize) -> Colour {
    let base = KINDS[kind % KINDS.len()];
    match (kind / KINDS.len() + variant) % 4 {
        0 => base,
        1 => base.towards(INK, 4),
        2 => base.towards(PAPER, 4),
        _ => base.towards(INK, 7),
    }
}

/// The style sheet that restyles `used` colours on a dark page.
pub fn dark_style(used: &[Colour]) -> String {
    let mut rules = String::from("<style>@media (prefers-color-scheme:dark){");
    for colour in used {
        let (light, dark) = (colour.light, colour.dark);
        for property in ["fill", "stroke"] {
            let _ = write!(rules, "svg [{property}=\"#{light:06X}\"]{{{property}:#{dark:06X}}}");
        }
    }
    rules.push_str("}</style>\n");
    rules
}

fn channels(colour: u32) -> (u8, u8, u8) {
    let [_, red, green, blue] = colour.to_be_bytes();
    (red, green, blue)
}

fn mix(from: u32, to: u32, tenths: u32) -> u32 {
    let channel = |shift: u32| {
        let (a, b) = ((from >> shift) & 0xFF, (to >> shift) & 0xFF);
        ((a * (10 - tenths) + b * tenths) / 10) << shift
    };
    channel(16) | channel(8) | channel(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_colours_are_the_same_on_white() {
        let mut all = vec![PAPER, INK, MUTED, GRID, REFUSED, PENDING, OVER, OVER_TEXT];
        all.extend((0..KINDS.len()).flat_map(|kind| (0..4).map(move |v| of_algorithm(kind, v))));
        let mut lights: Vec<u32> = all.iter().map(|colour| colour.light).collect();
        lights.sort_unstable();
        lights.dedup();
        assert_eq!(lights.len(), all.len());
    }

    #[test]
    fn mixing_moves_every_channel_by_itself() {
        // 0x00 and 0xFF at 4 tenths: 102 = 0x66; 0xFF and 0x00: 153 = 0x99.
        assert_eq!(mix(0x00FF00, 0xFF00FF, 4), 0x669966);
    }
}
