//! English word lists for reading short statements.

/// Words that a later statement may add or omit without a change of meaning.
pub(super) const FILLERS: &str = "a an the now currently actually already still just instead again every each please \
    finally officially usually normally nowadays meanwhile however so then also";

/// Words that may precede a day or a time and do not change its meaning.
pub(super) const BEFORE_TIMES: &str = "on at in by this next coming around about";

/// Words that negate a statement.
pub(super) const NEGATIONS: &str = "not never no";

/// Forms of `be`.
pub(super) const COPULAS: &str = "is are was were be am";
/// Past forms: statements about different times in the past may both be true.
pub(super) const PAST_COPULAS: &str = "was were";

/// Auxiliaries without a meaning of their own before another verb.
pub(super) const AUXILIARIES: &str = "will would shall has have had been being";

/// Auxiliaries that can be the verb of a statement.
pub(super) const MODALS: &str = "can could may must should might";

/// Participles before a new value: "was moved to Friday".
pub(super) const CHANGES: &str = "moved changed switched rescheduled postponed shifted set scheduled planned raised lowered increased reduced \
     extended delayed updated bumped dropped renamed pushed brought";

/// Words between a participle in `CHANGES` and the new value.
pub(super) const CHANGE_LINKS: &str = "to for on until forward back";

/// Verbs that have the same meaning as `be` before the time of an event.
pub(super) const HAPPENINGS: &str = "happens happen occurs occur";

/// Verbs in the third person, which separate the subject from the rest. Nouns with the same letters are rare.
pub(super) const THIRD: &str = "lives works reports belongs stays resides studies uses prefers drives leads listens runs sits \
    costs weighs takes lasts closes opens starts begins ends finishes leaves arrives departs keeps retries allows expires \
    contains needs requires supports holds earns pays meets expects returns stores handles serves accepts sends \
    receives reads writes deploys hosts likes loves hates eats drinks wears owns speaks plays visits knows wants \
    manages teaches has sleeps comes goes gets makes says builds lands launches ships falls becomes means drops \
    limits defaults points moves calls answers renews refreshes polls writes caches rotates charges fits measures reaches \
    trains swims cooks travels commutes sees sells buys rents shares hides shows prints logs connects waits serves seats \
    syncs checks cleans cures restarts boots enjoys dislikes";

/// Base forms of the verbs in [`THIRD`], as after "we", "I", "they" or a noun in the plural.
pub(super) const BASE: &str = "live work report belong stay use prefer drive lead listen run sit cost weigh take last close \
    open start begin end leave arrive depart keep retry allow expire contain need require support hold earn pay meet \
    return store serve accept send deploy host like love hate eat drink wear own speak play know want manage teach have \
    sleep come go get make build land launch ship become rotate charge fit measure reach enjoy rent share connect wait sync \
    check finish renew";

/// Past forms that do not end in "ed".
pub(super) const IRREGULAR: &str = "ran went saw met bought ate drank wrote sent paid made took got gave came found lost won \
    sold told said spoke flew drove broke built slept swam sang taught thought brought caught held began wore grew threw";

/// Words whose meaning depends on the context.
pub(super) const PRONOUNS: &str = "it this that he she they these those its";

/// Words that mean the speaker.
pub(super) const PERSONAL: &str = "i i'm i've my mine me we our ours us";

/// Pronouns after which a base form is a verb.
pub(super) const SPEAKERS: &str = "we i they you";

/// Nouns whose number is a label: another number means another thing.
pub(super) const LABELS: &str = "ticket issue pr step note page chapter task item bug case test question exercise lesson \
    episode line part phase day week sprint build commit invoice order customer number no nr section figure table memory fact \
    entry row record example run batch job file card message mail email comment story epic milestone option rule point lane \
    player team group class grade unit module volume book track song slide appendix article paragraph article";

/// Adjectives for a state that can be true on several days.
pub(super) const STATES: &str = "open closed free available busy away off out allowed forbidden welcome here there absent \
    present home back online offline empty full quiet crowded";

/// Verbs for a single point in time: something that starts on Friday does not start on Thursday.
pub(super) const POINTS: &str =
    "start begin end finish leav arriv depart close open expir launch land ship fall renew return";

/// Verbs that allow one place or person at a time: people live in one town.
pub(super) const SINGLE: &str =
    "live work report belong stay resid studi run sit listen lead point default host answer move";

/// Nouns that have one value at a time.
pub(super) const ROLES: &str = "favourite favorite preferred default current main primary password passphrase passcode name \
    nickname username status code pin capital boss owner lead leader manager address codename motto title topic theme \
    language editor job profession hometown employer priority colour color size model role timezone shell contact \
    backup location venue host branch database framework provider plan key price";

/// Words that introduce a remark and not a value. Several different remarks may be true.
pub(super) const REMARKS: &str = "note notes idea ideas todo todos decision fact remember reminder bug tip question answer list \
    warning example quote summary goal observation update info fyi log story lesson";

/// Sets of words that exclude each other, one per line.
pub(super) const SETS: [&str; 26] = [
    "red green blue black white yellow orange purple pink brown grey gray silver gold beige turquoise violet",
    "on off",
    "enabled disabled",
    "active inactive",
    "open closed",
    "yes no",
    "true false",
    "hourly daily nightly weekly biweekly monthly quarterly yearly annually",
    "single married divorced engaged widowed",
    "public private internal",
    "light dark",
    "up down",
    "left right",
    "tabs spaces",
    "small medium large",
    "spring summer autumn winter",
    "vegetarian vegan",
    "required optional mandatory",
    "allowed forbidden prohibited",
    "full-time part-time",
    "available unavailable",
    "online offline",
    "morning afternoon evening",
    "low medium high",
    "passing failing",
    "hot cold",
];
/// Words of the sets in [`SETS`] that may also give the time of a statement.
pub(super) const SEASONS: &str = "spring summer autumn winter morning afternoon evening";

/// Units of the same dimension, one dimension per line.
pub(super) const UNITS: [&str; 6] = [
    "millisecond second minute hour day week month year",
    "euro dollar pound franc cent",
    "byte kilobyte megabyte gigabyte terabyte",
    "gram kilogram ton",
    "millimetre centimetre metre kilometre mile",
    "percent point",
];

/// Written numbers, from 0.
pub(super) const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// Words that introduce a reason.
pub(super) const REASONS: &str = "because due thanks";

/// Returns the usual form of a unit, if the word is a unit.
pub(super) fn unit(lower: &str) -> Option<&'static str> {
    Some(match lower {
        "ms" | "millisecond" | "milliseconds" => "millisecond",
        "s" | "sec" | "secs" | "second" | "seconds" => "second",
        "min" | "mins" | "minute" | "minutes" => "minute",
        "h" | "hr" | "hrs" | "hour" | "hours" => "hour",
        "day" | "days" => "day",
        "week" | "weeks" => "week",
        "month" | "months" => "month",
        "year" | "years" => "year",
        "€" | "eur" | "euro" | "euros" => "euro",
        "$" | "usd" | "dollar" | "dollars" => "dollar",
        "£" | "gbp" | "pound" | "pounds" => "pound",
        "chf" | "franc" | "francs" => "franc",
        "cent" | "cents" => "cent",
        "%" | "percent" => "percent",
        "b" | "byte" | "bytes" => "byte",
        "kb" | "kib" | "kilobyte" | "kilobytes" => "kilobyte",
        "mb" | "mib" | "megabyte" | "megabytes" => "megabyte",
        "gb" | "gib" | "gigabyte" | "gigabytes" => "gigabyte",
        "tb" | "tib" | "terabyte" | "terabytes" => "terabyte",
        "g" | "gram" | "grams" => "gram",
        "kg" | "kilogram" | "kilograms" | "kilos" => "kilogram",
        "t" | "ton" | "tons" => "ton",
        "mm" => "millimetre",
        "cm" => "centimetre",
        "m" | "metre" | "metres" | "meter" | "meters" => "metre",
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => "kilometre",
        "mile" | "miles" => "mile",
        _ => return None,
    })
}
