//! Plots for the docs, as SVG: lines over time, and stacked areas.

use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
/// Space around the plot for numbers, on the left, right, top and bottom.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 168.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 44.0;
/// Colours that people with colour blindness can tell apart.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666"];

/// A line with its name, as points of x and y.
pub type PlotLine<'a> = (&'a str, Vec<(f64, f64)>);

/// The title and the axes of a plot.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// The title above the plot.
    pub title: &'a str,
    /// The label and the upper end of the horizontal axis, from 0.
    pub across: (&'a str, f64),
    /// The label and the upper end of the vertical axis, from 0.
    pub up: (&'a str, f64),
}

/// Lines in one frame.
pub fn lines(axes: Axes<'_>, lines: &[PlotLine<'_>]) -> String {
    let mut svg = frame(axes);
    for ((name, points), (n, colour)) in lines.iter().zip(COLOURS.iter().enumerate()) {
        let path: Vec<String> = points.iter().map(|point| place(axes, *point)).collect();
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
            path.join(" ")
        );
        legend(&mut svg, n, colour, name);
    }
    svg + "</svg>\n"
}

/// Stacked, filled lines, the first at the bottom.
pub fn areas(axes: Axes<'_>, lines: &[PlotLine<'_>]) -> String {
    let mut svg = frame(axes);
    let mut below: Vec<(f64, f64)> =
        lines.first().map(|(_, points)| points.iter().map(|(x, _)| (*x, 0.0)).collect()).unwrap_or_default();
    for ((name, points), (n, colour)) in lines.iter().zip(COLOURS.iter().enumerate()) {
        let above: Vec<(f64, f64)> =
            points.iter().zip(&below).map(|((x, y), (_, under))| (*x, y + under)).collect();
        let outline = above.iter().chain(below.iter().rev());
        let path: Vec<String> = outline.map(|point| place(axes, *point)).collect();
        let _ =
            writeln!(svg, "<polygon fill=\"{colour}\" fill-opacity=\"0.75\" points=\"{}\"/>", path.join(" "));
        legend(&mut svg, n, colour, name);
        below = above;
    }
    svg + "</svg>\n"
}

fn place(axes: Axes<'_>, (x, y): (f64, f64)) -> String {
    let across = LEFT + x / axes.across.1 * (WIDTH - LEFT - RIGHT);
    let up = HEIGHT - BOTTOM - y / axes.up.1 * (HEIGHT - TOP - BOTTOM);
    format!("{across:.1},{up:.1}")
}

fn frame(axes: Axes<'_>) -> String {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{}</text>\n",
        axes.title
    );
    for part in 0..=4 {
        let share = f64::from(part) / 4.0;
        let (x, y) = (LEFT + share * (right - LEFT), bottom - share * (bottom - TOP));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{right}M{x:.1} {TOP}V{bottom}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            number(share * axes.up.1),
            bottom + 16.0,
            number(share * axes.across.1),
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
         <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 10.0,
        axes.across.0,
        f64::midpoint(TOP, bottom),
        axes.up.0,
    );
    svg
}

fn legend(svg: &mut String, n: usize, colour: &str, name: &str) {
    let y = TOP + 10.0 + 20.0 * f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let x = WIDTH - RIGHT + 14.0;
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"{:.1}\">{name}</text>",
        y - 10.0,
        x + 18.0,
        y,
    );
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
