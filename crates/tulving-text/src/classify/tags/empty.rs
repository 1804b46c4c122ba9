//! English words that occur in texts about any topic, in addition to the stop words of the keyword lane.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::classify::lexicon::words;

/// Words that connect, measure, date or point, and have no topic.
static EMPTY: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words(
        "\
        able above accept accepted accepts across actually add added adding adds after again against ago \
        agree agreed all allow allowed allows almost alone along already also although always among \
        another any anybody anyone anything apart applied applies apply april are around ask asked asks \
        august available avoid away back bad based because become becomes been before began begin begins \
        behind below besides best better between beyond big bit both bring brings broken built called \
        came cannot care caused certain changed checked choose chose chosen clear click close com come \
        comes coming common complete completely concern consider considered contain contains continue \
        correct could couple cover create created creates currently dear december decide decided define \
        defined defines depend depends describe described describes did didn different difficult disable \
        discuss discussed does doing don done down drop due during each early easy edit either else \
        enable enabled enables end ends enough ensure especially etc even ever every everybody everyone \
        everything exactly except execute executed executes exist exists expect expected explain \
        explained extra far fast february feel few fill final finally find fine finish finished first \
        five fixed follow following follows found four friday full further gave general get gets getting \
        give given gives glad going gone good got great had half handle handled handles happen happened \
        happens hard having hello helps hence here hers high himself hold holds however http https \
        identify implement implemented implements important include included includes including inside \
        instead isn itself january join july june keep keeps kept knew know known knows large last late \
        later latest latter least leave leaves left less let like likely likes listed little long longer \
        look looked looking looks lot lots low made main mainly make makes making many march matter may \
        maybe mean meaning means meanwhile meet mention might mine miss missing monday more most mostly \
        moved much must named near nearly need needed needs neither never new next nice nine nobody none \
        nor normal nothing november now october off often okay old once one ones only onto open opened \
        opens other others otherwise ours out outside over own particular past perform perhaps pick \
        picked please plus possible prefer prefers present previous probably produce produces propose \
        proposed provide provided provides put puts quick quite rather read reads ready real really \
        receive receives recent refer refers remain remains remember remove removed removes rename \
        renamed replace represent represents require required requires returns right running runs safe \
        said same saturday saw say says second see seem seems seen select send sends sent separate \
        september sets setting seven several shall she should show showed shown shows similar simple \
        simply since single six slow small some somebody someone something sometimes soon started starts \
        stay stays still stops stored submit such sunday support supported supports sure take taken \
        takes talked tell tells ten thank thanks that their them there therefore think third this those \
        though thought three through throughout thursday thus till today todo together told tomorrow \
        tonight too took top total toward towards tried true try trying tuesday turned turns twice two \
        under understand unless until upon used useful uses using usual usually various via wait waits \
        want wanted wanting wants was wednesday well went were whatever whenever wherever whether while \
        whole whose why wish within without won wont worked working works would write writes writing \
        written wrong wrote www yeah yes yesterday yet you yours yourself",
    )
});

/// Words for the usual parts of documents, and other general words.
static GENERAL: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words(
        "\
        action actions afternoon agenda answer answers attendees background bug bugs build building call \
        calls case cases cause change changes chapter check checks code consequences contents context \
        contribution contributions contributors copy copyright data date dates day days decision \
        decisions default description detail details docs document documentation documents error errors \
        evening event example examples fact feature features field figure file files fix function \
        functions group help hour hours idea input introduction issue issues item items kind level \
        licence license licenses line lines link links list meeting method methods minute minutes moment \
        month months morning move name names note notes number numbers object objects offer option \
        options order output overview page pages part parts pass people person piece place places plan \
        plans point points problem problems project purpose question questions reason reasons reference \
        references report result results return review room run section set setup side size sort start \
        state status step steps stop store stuff summary system table talk team test tests text thing \
        things time times title tool tools topic turn type types use user users value values version \
        versions way ways week weeks word words work year years",
    )
});

/// Returns true if a lower-case word has no meaning for a tag, alone or next to other words.
pub(super) fn is_empty(word: &str) -> bool {
    let how = word.len() > 4
        && word.ends_with("ly")
        && !matches!(word, "anomaly" | "assembly" | "family" | "monopoly" | "reply" | "supply");
    how || EMPTY.contains(word)
}

/// Returns true if a word has a meaning for a tag only next to another word: "check" occurs in any text, but "health
/// check" does not.
pub(super) fn is_general(word: &str) -> bool {
    GENERAL.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_apart() {
        assert!(EMPTY.len() > 400 && GENERAL.iter().all(|word| !is_empty(word)));
    }
}
