//! The contract of every store, tested on this one. One test for each check, and one that none was left out.

use std::sync::Arc;

use tulving_core::ports::Store;
use tulving_store::{Home, SqliteOptions, SqliteStore};
use tulving_testkit::contract::{self, StoreContractCheck};

/// Runs a check on stores in folders of their own.
fn keeps(check: StoreContractCheck) {
    let folder = tempfile::tempdir().expect("a folder");
    let opened = std::cell::Cell::new(0);
    let fresh = || -> Arc<dyn Store> {
        opened.set(opened.get() + 1);
        let home = Home::open_or_create(&folder.path().join(opened.get().to_string())).expect("a home");
        Arc::new(SqliteStore::open(&home, SqliteOptions::default()).expect("a store"))
    };
    check(&fresh);
}

#[test]
fn every_check_of_the_contract_is_run_here() {
    let here = include_str!("contract.rs");
    for (name, _) in contract::ALL {
        assert!(here.contains(&format!("fn {name}()")), "{name} is not run");
    }
}

#[test]
fn a_set_is_whole_or_absent() {
    keeps(contract::apply::a_set_is_whole_or_absent);
}

#[test]
fn rights_are_checked_where_they_are_used() {
    keeps(contract::apply::rights_are_checked_where_they_are_used);
}

#[test]
fn a_lost_right_is_said_before_anything_else() {
    keeps(contract::apply::a_lost_right_is_said_before_anything_else);
}

#[test]
fn a_stale_revision_conflicts() {
    keeps(contract::apply::a_stale_revision_conflicts);
}

#[test]
fn a_revision_of_what_moved_conflicts() {
    keeps(contract::apply::a_revision_of_what_moved_conflicts);
}

#[test]
fn a_move_from_elsewhere_conflicts() {
    keeps(contract::apply::a_move_from_elsewhere_conflicts);
}

#[test]
fn what_is_gone_conflicts() {
    keeps(contract::apply::what_is_gone_conflicts);
}

#[test]
fn writes_of_a_set_build_on_each_other() {
    keeps(contract::apply::writes_of_a_set_build_on_each_other);
}

#[test]
fn numbers_ascend_and_are_never_reused() {
    keeps(contract::apply::numbers_ascend_and_are_never_reused);
}

#[test]
fn an_id_is_given_once() {
    keeps(contract::apply::an_id_is_given_once);
}

#[test]
fn a_memory_reads_back_as_it_was_written() {
    keeps(contract::apply::a_memory_reads_back_as_it_was_written);
}

#[test]
fn a_revision_keeps_what_is_not_its_own() {
    keeps(contract::apply::a_revision_keeps_what_is_not_its_own);
}

#[test]
fn a_move_makes_no_version() {
    keeps(contract::apply::a_move_makes_no_version);
}

#[test]
fn a_memory_goes_to_another_space_whole() {
    keeps(contract::apply::a_memory_goes_to_another_space_whole);
}

#[test]
fn a_memory_that_is_no_longer_so_stays_where_it_is() {
    keeps(contract::apply::a_memory_that_is_no_longer_so_stays_where_it_is);
}

#[test]
fn a_right_holds_where_its_memory_is() {
    keeps(contract::apply::a_right_holds_where_its_memory_is);
}

#[test]
fn an_erased_memory_leaves_nothing() {
    keeps(contract::apply::an_erased_memory_leaves_nothing);
}

#[test]
fn touches_are_counted_and_never_go_back() {
    keeps(contract::apply::touches_are_counted_and_never_go_back);
}

#[test]
fn a_touch_warms_what_was_cooling() {
    keeps(contract::apply::a_touch_warms_what_was_cooling);
}

#[test]
fn a_boundary_is_kept_by_every_read() {
    keeps(contract::visibility::a_boundary_is_kept_by_every_read);
}

#[test]
fn a_group_is_sealed() {
    keeps(contract::visibility::a_group_is_sealed);
}

#[test]
fn a_confined_viewer_sees_only_inside() {
    keeps(contract::visibility::a_confined_viewer_sees_only_inside);
}

#[test]
fn leaving_takes_the_sight_away() {
    keeps(contract::visibility::leaving_takes_the_sight_away);
}

#[test]
fn a_number_belongs_to_its_space() {
    keeps(contract::visibility::a_number_belongs_to_its_space);
}

#[test]
fn memories_come_in_the_order_of_their_ids() {
    keeps(contract::visibility::memories_come_in_the_order_of_their_ids);
}

#[test]
fn forgotten_memories_are_for_owner_and_admin() {
    keeps(contract::visibility::forgotten_memories_are_for_owner_and_admin);
}

#[test]
fn quarantined_memories_are_in_no_list() {
    keeps(contract::visibility::quarantined_memories_are_in_no_list);
}

#[test]
fn a_listing_is_its_owners_until_it_expires() {
    keeps(contract::visibility::a_listing_is_its_owners_until_it_expires);
}

#[test]
fn sight_says_what_every_read_says() {
    keeps(contract::visibility::sight_says_what_every_read_says);
}

#[test]
fn a_key_is_unique_within_its_audience() {
    keeps(contract::unique::a_key_is_unique_within_its_audience);
}

#[test]
fn a_source_path_is_unique_within_its_audience() {
    keeps(contract::unique::a_source_path_is_unique_within_its_audience);
}

#[test]
fn a_content_is_unique_within_its_boundary() {
    keeps(contract::unique::a_content_is_unique_within_its_boundary);
}

#[test]
fn a_key_and_a_conversation_lift_the_rule_of_content() {
    keeps(contract::unique::a_key_and_a_conversation_lift_the_rule_of_content);
}

#[test]
fn every_path_of_a_memory_is_unique_within_its_audience() {
    keeps(contract::unique::every_path_of_a_memory_is_unique_within_its_audience);
}

#[test]
fn the_paths_of_a_memory_change_without_a_version() {
    keeps(contract::unique::the_paths_of_a_memory_change_without_a_version);
}

#[test]
fn what_is_forgotten_holds_nothing() {
    keeps(contract::unique::what_is_forgotten_holds_nothing);
}

#[test]
fn what_is_archived_or_quarantined_still_holds() {
    keeps(contract::unique::what_is_archived_or_quarantined_still_holds);
}

#[test]
fn an_edit_or_a_wider_boundary_cannot_take_what_is_held() {
    keeps(contract::unique::an_edit_or_a_wider_boundary_cannot_take_what_is_held);
}

#[test]
fn what_goes_to_another_space_cannot_take_what_is_held_there() {
    keeps(contract::unique::what_goes_to_another_space_cannot_take_what_is_held_there);
}

#[test]
fn mirrors_share_their_path() {
    keeps(contract::unique::mirrors_share_their_path);
}

#[test]
fn a_twin_is_found_by_key_then_path_then_content() {
    keeps(contract::unique::a_twin_is_found_by_key_then_path_then_content);
}

#[test]
fn every_filter_agrees_with_a_plain_one() {
    keeps(contract::list::every_filter_agrees_with_a_plain_one);
}

#[test]
fn substrings_are_literal_and_ignore_case() {
    keeps(contract::list::substrings_are_literal_and_ignore_case);
}

#[test]
fn orders_fall_and_ties_go_by_id() {
    keeps(contract::list::orders_fall_and_ties_go_by_id);
}

#[test]
fn a_read_ends_where_the_contents_have_so_many_bytes() {
    keeps(contract::list::a_read_ends_where_the_contents_have_so_many_bytes);
}

#[test]
fn a_read_gives_the_beginning_of_each_content() {
    keeps(contract::list::a_read_gives_the_beginning_of_each_content);
}

#[test]
fn pages_follow_each_other() {
    keeps(contract::list::pages_follow_each_other);
}

#[test]
fn pages_stand_still_while_others_write() {
    keeps(contract::list::pages_stand_still_while_others_write);
}

#[test]
fn time_filters_include_the_start_only() {
    keeps(contract::list::time_filters_include_the_start_only);
}

#[test]
fn what_has_expired_counts_as_archived() {
    keeps(contract::list::what_has_expired_counts_as_archived);
}

#[test]
fn projects_are_those_of_memories_that_lists_show() {
    keeps(contract::list::projects_are_those_of_memories_that_lists_show);
}

#[test]
fn only_what_held_then_is_found_as_of_then() {
    keeps(contract::list::only_what_held_then_is_found_as_of_then);
}

#[test]
fn versions_come_oldest_first_with_their_makers() {
    keeps(contract::versions::versions_come_oldest_first_with_their_makers);
}

#[test]
fn a_version_is_hidden_by_its_own_boundary() {
    keeps(contract::versions::a_version_is_hidden_by_its_own_boundary);
}

#[test]
fn versions_follow_the_memorys_visibility() {
    keeps(contract::versions::versions_follow_the_memorys_visibility);
}

#[test]
fn an_edge_shows_only_between_what_shows() {
    keeps(contract::associations::an_edge_shows_only_between_what_shows);
}

#[test]
fn the_strongest_comes_first() {
    keeps(contract::associations::the_strongest_comes_first);
}

#[test]
fn an_edge_is_unique_per_pair_and_relation() {
    keeps(contract::associations::an_edge_is_unique_per_pair_and_relation);
}

#[test]
fn an_edge_can_be_removed() {
    keeps(contract::associations::an_edge_can_be_removed);
}

#[test]
fn a_replacement_keeps_every_edge() {
    keeps(contract::associations::a_replacement_keeps_every_edge);
}

#[test]
fn a_callers_update_supersedes() {
    keeps(contract::associations::a_callers_update_supersedes);
}

#[test]
fn only_what_is_seen_supersedes() {
    keeps(contract::associations::only_what_is_seen_supersedes);
}

#[test]
fn a_fresh_store_is_the_users() {
    keeps(contract::directory::a_fresh_store_is_the_users);
}

#[test]
fn spaces_are_shown_to_members_and_to_admins_above() {
    keeps(contract::directory::spaces_are_shown_to_members_and_to_admins_above);
}

#[test]
fn teams_are_shown_to_their_people() {
    keeps(contract::directory::teams_are_shown_to_their_people);
}

#[test]
fn a_role_is_by_direct_membership() {
    keeps(contract::directory::a_role_is_by_direct_membership);
}

#[test]
fn members_come_by_name() {
    keeps(contract::directory::members_come_by_name);
}

#[test]
fn names_cannot_be_taken_twice() {
    keeps(contract::directory::names_cannot_be_taken_twice);
}

#[test]
fn principals_are_found_by_name_and_id() {
    keeps(contract::directory::principals_are_found_by_name_and_id);
}

#[test]
fn tokens_are_found_by_hash_until_forever() {
    keeps(contract::directory::tokens_are_found_by_hash_until_forever);
}

#[test]
fn positions_ascend_within_a_space() {
    keeps(contract::turns::positions_ascend_within_a_space);
}

#[test]
fn the_newest_turns_come_oldest_first() {
    keeps(contract::turns::the_newest_turns_come_oldest_first);
}

#[test]
fn only_members_see_turns() {
    keeps(contract::turns::only_members_see_turns);
}

#[test]
fn turns_of_the_default_space_are_for_the_user_and_who_logged_them() {
    keeps(contract::turns::turns_of_the_default_space_are_for_the_user_and_who_logged_them);
}

#[test]
fn pruned_positions_are_not_given_again() {
    keeps(contract::turns::pruned_positions_are_not_given_again);
}

#[test]
fn a_job_reads_back_as_it_was_written() {
    keeps(contract::jobs::a_job_reads_back_as_it_was_written);
}

#[test]
fn due_jobs_can_be_claimed_oldest_first() {
    keeps(contract::jobs::due_jobs_can_be_claimed_oldest_first);
}

#[test]
fn a_job_that_moved_conflicts() {
    keeps(contract::jobs::a_job_that_moved_conflicts);
}

#[test]
fn jobs_are_listed_by_state_and_kind() {
    keeps(contract::jobs::jobs_are_listed_by_state_and_kind);
}

#[test]
fn an_imported_file_is_known_as_it_was() {
    keeps(contract::imports::an_imported_file_is_known_as_it_was);
}

#[test]
fn a_forgotten_file_is_known_until_another_memory_takes_its_place() {
    keeps(contract::imports::a_forgotten_file_is_known_until_another_memory_takes_its_place);
}

#[test]
fn a_memory_follows_its_file_to_another_path() {
    keeps(contract::imports::a_memory_follows_its_file_to_another_path);
}

#[test]
fn a_file_is_unique_by_its_bytes() {
    keeps(contract::imports::a_file_is_unique_by_its_bytes);
}

#[test]
fn the_work_on_a_memory_settles_it() {
    keeps(contract::imports::the_work_on_a_memory_settles_it);
}

#[test]
fn a_mirrored_file_is_known_as_it_was() {
    keeps(contract::mirrors::a_mirrored_file_is_known_as_it_was);
}

#[test]
fn a_file_that_others_have_mirrored_conflicts() {
    keeps(contract::mirrors::a_file_that_others_have_mirrored_conflicts);
}

#[test]
fn a_mirror_follows_its_line() {
    keeps(contract::mirrors::a_mirror_follows_its_line);
}

#[test]
fn what_stands_for_a_foreign_memory_is_known() {
    keeps(contract::foreign_import::what_stands_for_a_foreign_memory_is_known);
}

#[test]
fn an_adopted_memory_leaves_the_numbers_of_the_others_free() {
    keeps(contract::foreign_import::an_adopted_memory_leaves_the_numbers_of_the_others_free);
}

#[test]
fn a_claim_is_its_principals() {
    keeps(contract::claims::a_claim_is_its_principals);
}

#[test]
fn a_claim_is_made_on_what_is_so() {
    keeps(contract::claims::a_claim_is_made_on_what_is_so);
}

#[test]
fn an_answer_stays() {
    keeps(contract::claims::an_answer_stays);
}

#[test]
fn only_what_was_not_answered_is_dropped() {
    keeps(contract::claims::only_what_was_not_answered_is_dropped);
}

#[test]
fn an_erasure_empties_answers() {
    keeps(contract::claims::an_erasure_empties_answers);
}

#[test]
fn old_claims_go_oldest_first() {
    keeps(contract::claims::old_claims_go_oldest_first);
}

#[test]
fn a_claim_is_answered_and_dropped_by_who_began_it() {
    keeps(contract::claims::a_claim_is_answered_and_dropped_by_who_began_it);
}

#[test]
fn a_principal_has_so_many_claims() {
    keeps(contract::claims::a_principal_has_so_many_claims);
}

#[test]
fn a_principal_has_so_many_bytes_of_answers() {
    keeps(contract::claims::a_principal_has_so_many_bytes_of_answers);
}

#[test]
fn turns_end_where_they_are_long() {
    keeps(contract::turns::turns_end_where_they_are_long);
}

#[test]
fn what_is_spent_adds_up() {
    keeps(contract::usage::what_is_spent_adds_up);
}

#[test]
fn passes_are_kept_for_half_a_year() {
    keeps(contract::passes::passes_are_kept_for_half_a_year);
}

#[test]
fn a_pass_reads_back_and_moves_on_from_what_it_was() {
    keeps(contract::passes::a_pass_reads_back_and_moves_on_from_what_it_was);
}

#[test]
fn a_pass_is_told_to_members_and_of_private_memories_to_their_owner() {
    keeps(contract::passes::a_pass_is_told_to_members_and_of_private_memories_to_their_owner);
}

#[test]
fn every_change_has_its_entry() {
    keeps(contract::log::every_change_has_its_entry);
}

#[test]
fn who_sees_a_memory_no_more_is_told() {
    keeps(contract::log::who_sees_a_memory_no_more_is_told);
}

#[test]
fn what_is_no_change_of_a_memory_is_not_logged() {
    keeps(contract::log::what_is_no_change_of_a_memory_is_not_logged);
}

#[test]
fn the_log_ascends_and_can_be_paged() {
    keeps(contract::log::the_log_ascends_and_can_be_paged);
}

#[test]
fn a_trimmed_log_keeps_its_numbers_and_its_newest_entry() {
    keeps(contract::log::a_trimmed_log_keeps_its_numbers_and_its_newest_entry);
}

#[test]
fn every_commit_moves_the_pulse() {
    keeps(contract::log::every_commit_moves_the_pulse);
}

#[test]
fn the_epoch_stays() {
    keeps(contract::log::the_epoch_stays);
}

#[test]
fn the_audit_is_for_admins() {
    keeps(contract::log::the_audit_is_for_admins);
}

#[test]
fn the_audit_can_be_filtered() {
    keeps(contract::log::the_audit_can_be_filtered);
}

#[test]
fn the_last_change_of_an_actor_is_known_by_its_traces() {
    keeps(contract::log::the_last_change_of_an_actor_is_known_by_its_traces);
}

#[test]
fn entries_hold_everything() {
    keeps(contract::feed::entries_hold_everything);
}

#[test]
fn entries_can_be_paged() {
    keeps(contract::feed::entries_can_be_paged);
}

#[test]
fn vectors_read_back_as_they_were_written() {
    keeps(contract::feed::vectors_read_back_as_they_were_written);
}

#[test]
fn sections_are_the_chunks_of_what_is_seen() {
    keeps(contract::feed::sections_are_the_chunks_of_what_is_seen);
}

#[test]
fn a_requested_model_is_the_next_one() {
    keeps(contract::feed::a_requested_model_is_the_next_one);
}

#[test]
fn the_first_vectors_choose_the_model() {
    keeps(contract::feed::the_first_vectors_choose_the_model);
}

#[test]
fn a_model_is_chosen_on_what_is_so() {
    keeps(contract::feed::a_model_is_chosen_on_what_is_so);
}

#[test]
fn vectors_of_what_is_no_longer_so_conflict() {
    keeps(contract::feed::vectors_of_what_is_no_longer_so_conflict);
}

#[test]
fn vectors_replace_those_of_their_model() {
    keeps(contract::feed::vectors_replace_those_of_their_model);
}

#[test]
fn contents_that_hold_a_text_are_found() {
    keeps(contract::feed::contents_that_hold_a_text_are_found);
}

#[test]
fn what_cannot_be_embedded_comes_last() {
    keeps(contract::feed::what_cannot_be_embedded_comes_last);
}

#[test]
fn what_waits_follows_every_move() {
    keeps(contract::feed::what_waits_follows_every_move);
}

#[test]
fn what_waits_agrees_with_a_plain_count() {
    keeps(contract::feed::what_waits_agrees_with_a_plain_count);
}

#[test]
fn what_was_saved_without_vectors_is_unlinked_until_it_has_some() {
    keeps(contract::feed::what_was_saved_without_vectors_is_unlinked_until_it_has_some);
}

#[test]
fn a_dump_is_complete_and_refers_backwards() {
    keeps(contract::dump::a_dump_is_complete_and_refers_backwards);
}

#[test]
fn pages_of_any_size_hold_the_same() {
    keeps(contract::dump::pages_of_any_size_hold_the_same);
}

#[test]
fn a_loaded_dump_is_the_same_store() {
    keeps(contract::dump::a_loaded_dump_is_the_same_store);
}

#[test]
fn loading_again_changes_nothing() {
    keeps(contract::dump::loading_again_changes_nothing);
}

#[test]
fn a_taken_number_is_replaced() {
    keeps(contract::dump::a_taken_number_is_replaced);
}

#[test]
fn a_repeated_memory_is_left_out() {
    keeps(contract::dump::a_repeated_memory_is_left_out);
}

#[test]
fn an_edge_to_nowhere_is_left_out() {
    keeps(contract::dump::an_edge_to_nowhere_is_left_out);
}

#[test]
fn numbers_and_positions_go_on_after_a_load() {
    keeps(contract::dump::numbers_and_positions_go_on_after_a_load);
}

#[test]
fn a_life_is_that_of_its_memory() {
    keeps(contract::aging::a_life_is_that_of_its_memory);
}

#[test]
fn lives_come_in_pages_without_what_no_rule_moves() {
    keeps(contract::aging::lives_come_in_pages_without_what_no_rule_moves);
}

#[test]
fn a_move_knows_from_when_rules_count() {
    keeps(contract::aging::a_move_knows_from_when_rules_count);
}

#[test]
fn old_audit_entries_go_and_others_stay() {
    keeps(contract::aging::old_audit_entries_go_and_others_stay);
}

#[test]
fn a_clock_that_ran_ahead_holds_no_job_up() {
    keeps(contract::aging::a_clock_that_ran_ahead_holds_no_job_up);
}

#[test]
fn a_succession_is_told_as_far_as_it_is_seen() {
    keeps(contract::associations::a_succession_is_told_as_far_as_it_is_seen);
}

#[test]
fn what_a_caller_said_outlasts_what_the_engine_says() {
    keeps(contract::associations::what_a_caller_said_outlasts_what_the_engine_says);
}
