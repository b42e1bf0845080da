/** The report of warehouses that no sandbox fills: thousands of runs, many locations, hostile texts, runs that failed. */
import { assert, describe, it } from "@effect/vitest"
import { reportAfter } from "./filled.ts"
import { rowsOf, textOf } from "./reading.ts"

const intoRuns =
  "INSERT INTO meta.runs (run_id, command, started_at, finished_at, status, exit_code, requests, planned_requests)"

/** Nightly runs up to 23 November 2026, one a day. */
const runs = (count: number, status = "complete") =>
  `${intoRuns} SELECT strftime(night, '%Y%m%dT%H%M%S000Z'), 'sync', night, night + INTERVAL 9 MINUTE, '${status}', 0, 5000, 4800
   FROM (SELECT TIMESTAMPTZ '2026-11-23 02:00:00+00' - INTERVAL (i) DAY AS night FROM range(${count}) AS r (i))`
const readings = (locations: number, resources: ReadonlyArray<string>, status = "'complete'", since = "") =>
  `INSERT INTO meta.run_resources (run_id, location_id, resource, mode, requests, records, new_rows, changed_rows, status, finished_at)
   SELECT run_id, 'location-' || l, resource, 'full', 3, 100, 2, 1, ${status}, finished_at
   FROM meta.runs, range(${locations}) AS r (l), (SELECT unnest(${JSON.stringify(resources).replaceAll('"', "'")}) AS resource)
   WHERE run_id > '${since}'`
const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)>"'&`
const literal = `'${hostile.replaceAll("'", "''")}'`

describe("the report of a large warehouse", () => {
  it("of 2,000 runs and 40 locations with 96 resources stays small, and shows the worst 50", async () => {
    const resources = Array.from({ length: 96 }, (_, index) => `resource_${index}`)
    const html = await reportAfter(
      runs(2000),
      readings(2, resources.slice(0, 20), "'complete'", "20261001"),
      `${intoRuns} SELECT '20261123T120000000Z', 'sync', TIMESTAMPTZ '2026-11-23 12:00:00+00', TIMESTAMPTZ '2026-11-23 13:00:00+00', 'incomplete', 3, 5000, 5000`,
      `INSERT INTO meta.run_resources (run_id, location_id, resource, mode, requests, status, warnings, finished_at)
       SELECT '20261123T120000000Z', 'location-' || l, 'resource_' || i, 'full', 5, if(l = 7, 'incomplete', 'complete'),
         if(l = 7, ['the service lost records'], []), TIMESTAMPTZ '2026-11-23 12:30:00+00' FROM range(40) AS a (l), range(96) AS b (i)`
    )
    assert.isBelow(html.length, 400_000)
    const shown = rowsOf(html, "readings")
    const group = ["location-7"]
    assert.deepStrictEqual([shown[0], shown.length], [group, 51])
    assert.isTrue(shown.slice(1).every(([, state]) => state === "incomplete"))
    const text = textOf(html)
    assert.include(text, "3,744 of 3,840 resources of 40 locations are complete")
    assert.include(text, "The worst 50 are shown")
    assert.include(text, "The last 30 of 2,001 runs.")
    assert.include(text, "40 locations")
  })

  it("of 200,000 rejected values counts them, shows shapes, and is made in bounded time", async () => {
    const html = await reportAfter(
      runs(3),
      readings(1, ["contacts"]),
      `INSERT INTO meta.rejected_values SELECT '20261123T020000000Z', 'location-0', 'table_' || (i % 300), 'k' || i, 'phone', 'Jane Doe <jane' || i || '@example.com>', 'does not fit DATE', TIMESTAMPTZ '2026-11-23 02:01:00+00' FROM range(200000) AS r (i)`,
      `INSERT INTO meta.rejected_records SELECT '20261123T020000000Z', 'location-0', 'contacts', repeat('{"name":"Jane Doe"}', 50000), 'has no id; in x' || i, TIMESTAMPTZ '2026-11-23 02:01:00+00' FROM range(20) AS r (i)`
    )
    assert.include(textOf(html), "200,020 values and records in all")
    assert.lengthOf(rowsOf(html, "rejected"), 50)
    // The 50 rows that are shown have a sixth of them.
    assert.include(textOf(html), "200,020 values and records in all, 200,020 in the last 24 hours.")
    assert.notMatch(html, /jane|\bDoe\b/i)
    assert.include(textOf(html), "Aaaa Aaa <aaa0@aaa.aaa>")
    assert.isBelow(html.length, 300_000)
  })
})

it("a warning is said in amber, at the top, for a run, and for a reading", async () => {
  const html = await reportAfter(
    runs(2, "complete_with_warnings"),
    readings(1, ["contacts"], "'complete_with_warnings'")
  )
  assert.match(html, /<p class="notice warning">\s*<strong id="status">Complete with warnings</)
  assert.lengthOf(html.match(/class="state complete_with_warnings"/g)!, 3)
})

describe("hostile texts", () => {
  it("are shown as texts, wherever they are stored", async () => {
    const html = await reportAfter(
      runs(3),
      `${intoRuns} SELECT '20261123T120000000Z', ${literal}, TIMESTAMPTZ '2026-11-23 12:00:00+00', TIMESTAMPTZ '2026-11-23 13:00:00+00', ${literal}, 3, 5, 5`,
      readings(1, ["contacts"], literal),
      `INSERT INTO meta.run_resources (run_id, location_id, resource, mode, requests, new_rows, status, warnings, finished_at)
       SELECT run_id, ${literal}, ${literal}, ${literal}, 4, 9, 'incomplete', [${literal}], finished_at FROM meta.runs`,
      `INSERT INTO meta.rejected_values SELECT run_id, ${literal}, ${literal}, ${literal}, ${literal}, ${literal}, ${literal}, finished_at FROM meta.runs`,
      `INSERT INTO meta.rejected_records SELECT run_id, ${literal}, ${literal}, ${literal}, ${literal}, finished_at FROM meta.runs`,
      `INSERT INTO meta.schema_changes SELECT run_id, ${literal}, ${literal}, ${literal}, ${literal}, ${literal}, finished_at, 1, ${literal} FROM meta.runs`
    )
    assert.strictEqual(html.match(/<script/g)?.length, 1, "the script of the report itself")
    assert.notMatch(html, /<img/)
    assert.notMatch(html.replaceAll(/<(style|script)\b.*?<\/\1>/gs, ""), /alert\(\d\)</)
    assert.include(html, "&#60;script&#62;alert(1)")
  })
})

describe("a run that did not end", () => {
  it("is said at the top, also if it was the first and loaded nothing", async () => {
    const first = await reportAfter(
      `${intoRuns} SELECT '20261123T020000000Z', 'sync', TIMESTAMPTZ '2026-11-23 02:00:00+00', NULL, NULL, NULL, NULL, 90`
    )
    const text = textOf(first)
    assert.include(
      text,
      "Did not end Nothing was read yet. Run 20261123T020000000Z did not end: it was stopped or killed; everything read is kept."
    )
    assert.notMatch(first, /NaN|undefined/)
    const later = await reportAfter(
      runs(3),
      readings(1, ["contacts", "tasks"]),
      "INSERT INTO meta.watermarks (location_id, resource, complete_at) SELECT 'location-0', 'contacts', max(finished_at) FROM meta.runs",
      "UPDATE meta.runs SET status = NULL, finished_at = NULL, requests = NULL WHERE run_id LIKE '20261123%'",
      "UPDATE meta.run_resources SET status = NULL WHERE run_id LIKE '20261123%' AND resource = 'tasks'"
    )
    assert.include(textOf(later), "Did not end 1 of 2 resources is complete; the oldest, contacts, was read on")
    assert.deepStrictEqual(
      rowsOf(later, "readings").map(([resource, state]) => [resource, state]),
      [
        ["tasks", "interrupted"],
        ["contacts", "complete"]
      ]
    )
  })

  it("is not confused with one that was paused, or that a rebuild followed", async () => {
    const paused = await reportAfter(runs(1, "paused"), readings(1, ["contacts", "tasks"], "'incomplete'"))
    assert.include(textOf(paused), "Paused 0 of 2 resources are complete. Run 20261123T020000000Z ended early")
    const rebuilt = await reportAfter(
      runs(2),
      readings(1, ["contacts"]),
      `${intoRuns} SELECT '20261123T090000000Z', 'rebuild', TIMESTAMPTZ '2026-11-23 09:00:00+00', TIMESTAMPTZ '2026-11-23 09:01:00+00', 'complete', 0, 0, 0`
    )
    assert.include(textOf(rebuilt), "The last run ended on 23 Nov 2026, 02:09 UTC, after 9 min.")
    assert.include(textOf(rebuilt), "As of 23 Nov 2026, 02:09 UTC;")
  })
})
