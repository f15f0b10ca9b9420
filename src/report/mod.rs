//! What a run leaves behind for people and for other programs.

pub mod chart;
pub mod html;
