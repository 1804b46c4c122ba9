//! The contract of [`Store`], as checks that every store runs.
//!
//! Each check takes a factory of fresh stores and panics with a description of the mistake. The test file of a store
//! has one `#[test]` for each check. [`ALL`] contains the names of the checks, so that the test file can prove that it
//! runs all of them. A fresh store contains the start of every home: the local org and team, the space `default`, and
//! the user as admin of all three.

pub mod aging;
pub mod apply;
pub mod associations;
pub mod claims;
pub mod directory;
pub mod dump;
pub mod feed;
pub mod foreign_import;
pub mod imports;
pub mod jobs;
pub mod list;
pub mod log;
pub mod mirrors;
pub mod passes;
pub mod turns;
pub mod unique;
pub mod usage;
pub mod versions;
pub mod visibility;

use std::fmt::Debug;
use std::sync::Arc;

use tulving_core::model::error::{Conflict, StoreError};
use tulving_core::ports::Store;

use crate::build::StoreFixture;

/// Returns a fresh store each time.
pub type StoreFactory<'a> = &'a dyn Fn() -> Arc<dyn Store>;

/// A check of one promise of the contract.
pub type StoreContractCheck = fn(StoreFactory<'_>);

/// Lists checks by the module that they are in.
macro_rules! checks {
    ($($module:ident { $($check:ident),+ $(,)? })+) => {
        /// Every check, with the name of its test in each store.
        pub const ALL: &[(&str, StoreContractCheck)] = &[$($((stringify!($check), $module::$check)),+),+];

        /// The sources of the modules.
        #[cfg(test)]
        const SOURCES: &[&str] = &[$(include_str!(concat!(stringify!($module), ".rs"))),+];
    };
}

checks! {
    apply {
        a_set_is_whole_or_absent,
        rights_are_checked_where_they_are_used,
        a_lost_right_is_said_before_anything_else,
        a_stale_revision_conflicts,
        a_revision_of_what_moved_conflicts,
        a_move_from_elsewhere_conflicts,
        what_is_gone_conflicts,
        writes_of_a_set_build_on_each_other,
        numbers_ascend_and_are_never_reused,
        an_id_is_given_once,
        a_memory_reads_back_as_it_was_written,
        a_revision_keeps_what_is_not_its_own,
        a_move_makes_no_version,
        a_memory_goes_to_another_space_whole,
        a_memory_that_is_no_longer_so_stays_where_it_is,
        a_right_holds_where_its_memory_is,
        an_erased_memory_leaves_nothing,
        touches_are_counted_and_never_go_back,
        a_touch_warms_what_was_cooling,
    }
    aging {
        a_life_is_that_of_its_memory,
        lives_come_in_pages_without_what_no_rule_moves,
        a_move_knows_from_when_rules_count,
        old_audit_entries_go_and_others_stay,
        a_clock_that_ran_ahead_holds_no_job_up,
    }
    visibility {
        a_boundary_is_kept_by_every_read,
        a_group_is_sealed,
        a_confined_viewer_sees_only_inside,
        leaving_takes_the_sight_away,
        a_number_belongs_to_its_space,
        memories_come_in_the_order_of_their_ids,
        forgotten_memories_are_for_owner_and_admin,
        quarantined_memories_are_in_no_list,
        a_listing_is_its_owners_until_it_expires,
        sight_says_what_every_read_says,
    }
    unique {
        a_key_is_unique_within_its_audience,
        a_source_path_is_unique_within_its_audience,
        a_content_is_unique_within_its_boundary,
        a_key_and_a_conversation_lift_the_rule_of_content,
        every_path_of_a_memory_is_unique_within_its_audience,
        the_paths_of_a_memory_change_without_a_version,
        what_is_forgotten_holds_nothing,
        what_is_archived_or_quarantined_still_holds,
        an_edit_or_a_wider_boundary_cannot_take_what_is_held,
        what_goes_to_another_space_cannot_take_what_is_held_there,
        mirrors_share_their_path,
        a_twin_is_found_by_key_then_path_then_content,
    }
    list {
        every_filter_agrees_with_a_plain_one,
        substrings_are_literal_and_ignore_case,
        orders_fall_and_ties_go_by_id,
        a_read_ends_where_the_contents_have_so_many_bytes,
        a_read_gives_the_beginning_of_each_content,
        pages_follow_each_other,
        pages_stand_still_while_others_write,
        time_filters_include_the_start_only,
        what_has_expired_counts_as_archived,
        only_what_held_then_is_found_as_of_then,
        projects_are_those_of_memories_that_lists_show,
    }
    versions {
        versions_come_oldest_first_with_their_makers,
        a_version_is_hidden_by_its_own_boundary,
        versions_follow_the_memorys_visibility,
    }
    associations {
        what_a_caller_said_outlasts_what_the_engine_says,
        an_edge_shows_only_between_what_shows,
        the_strongest_comes_first,
        an_edge_is_unique_per_pair_and_relation,
        an_edge_can_be_removed,
        a_replacement_keeps_every_edge,
        a_callers_update_supersedes,
        only_what_is_seen_supersedes,
        a_succession_is_told_as_far_as_it_is_seen,
    }
    directory {
        a_fresh_store_is_the_users,
        spaces_are_shown_to_members_and_to_admins_above,
        teams_are_shown_to_their_people,
        a_role_is_by_direct_membership,
        members_come_by_name,
        names_cannot_be_taken_twice,
        principals_are_found_by_name_and_id,
        tokens_are_found_by_hash_until_forever,
    }
    turns {
        positions_ascend_within_a_space,
        the_newest_turns_come_oldest_first,
        turns_end_where_they_are_long,
        only_members_see_turns,
        turns_of_the_default_space_are_for_the_user_and_who_logged_them,
        pruned_positions_are_not_given_again,
    }
    jobs {
        a_job_reads_back_as_it_was_written,
        due_jobs_can_be_claimed_oldest_first,
        a_job_that_moved_conflicts,
        jobs_are_listed_by_state_and_kind,
    }
    claims {
        a_claim_is_its_principals,
        a_claim_is_made_on_what_is_so,
        an_answer_stays,
        only_what_was_not_answered_is_dropped,
        an_erasure_empties_answers,
        old_claims_go_oldest_first,
        a_claim_is_answered_and_dropped_by_who_began_it,
        a_principal_has_so_many_claims,
        a_principal_has_so_many_bytes_of_answers,
    }
    imports {
        an_imported_file_is_known_as_it_was,
        a_forgotten_file_is_known_until_another_memory_takes_its_place,
        a_memory_follows_its_file_to_another_path,
        a_file_is_unique_by_its_bytes,
        the_work_on_a_memory_settles_it,
    }
    mirrors {
        a_mirrored_file_is_known_as_it_was,
        a_file_that_others_have_mirrored_conflicts,
        a_mirror_follows_its_line,
    }
    foreign_import {
        what_stands_for_a_foreign_memory_is_known,
        an_adopted_memory_leaves_the_numbers_of_the_others_free,
    }
    usage {
        what_is_spent_adds_up,
    }
    passes {
        a_pass_reads_back_and_moves_on_from_what_it_was,
        passes_are_kept_for_half_a_year,
        a_pass_is_told_to_members_and_of_private_memories_to_their_owner,
    }
    log {
        every_change_has_its_entry,
        who_sees_a_memory_no_more_is_told,
        what_is_no_change_of_a_memory_is_not_logged,
        the_log_ascends_and_can_be_paged,
        a_trimmed_log_keeps_its_numbers_and_its_newest_entry,
        every_commit_moves_the_pulse,
        the_epoch_stays,
        the_audit_is_for_admins,
        the_audit_can_be_filtered,
        the_last_change_of_an_actor_is_known_by_its_traces,
    }
    feed {
        entries_hold_everything,
        entries_can_be_paged,
        vectors_read_back_as_they_were_written,
        sections_are_the_chunks_of_what_is_seen,
        the_first_vectors_choose_the_model,
        a_requested_model_is_the_next_one,
        a_model_is_chosen_on_what_is_so,
        vectors_of_what_is_no_longer_so_conflict,
        vectors_replace_those_of_their_model,
        contents_that_hold_a_text_are_found,
        what_cannot_be_embedded_comes_last,
        what_waits_follows_every_move,
        what_waits_agrees_with_a_plain_count,
        what_was_saved_without_vectors_is_unlinked_until_it_has_some,
    }
    dump {
        a_dump_is_complete_and_refers_backwards,
        pages_of_any_size_hold_the_same,
        a_loaded_dump_is_the_same_store,
        loading_again_changes_nothing,
        a_taken_number_is_replaced,
        a_repeated_memory_is_left_out,
        an_edge_to_nowhere_is_left_out,
        numbers_and_positions_go_on_after_a_load,
    }
}

fn world(fresh: StoreFactory<'_>) -> StoreFixture {
    StoreFixture::new(fresh())
}

/// Returns the conflict of a write that must conflict.
#[track_caller]
fn conflict<T: Debug>(result: Result<T, StoreError>) -> Conflict {
    match result {
        Err(StoreError::Conflict(conflict)) => conflict,
        other => panic!("a conflict was due, and there was {other:?}"),
    }
}

/// Returns the answer of a call that must succeed.
#[track_caller]
fn good<T>(result: Result<T, StoreError>) -> T {
    match result {
        Ok(answer) => answer,
        Err(error) => panic!("the store failed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_check_is_missing_from_the_list() {
        let checks = SOURCES
            .iter()
            .flat_map(|source| source.lines())
            .filter_map(|line| line.strip_prefix("pub fn ")?.strip_suffix("(fresh: StoreFactory<'_>) {"));
        let missing: Vec<&str> =
            checks.filter(|check| ALL.iter().all(|(listed, _)| listed != check)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
