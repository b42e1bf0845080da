/** The reasons why readings are not complete: the sentence of each. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Reason, type SingleReason, distinct, sentenceOf } from "../../src/values/reason.ts"

const detail = { message: "422 too old", answered: 422 }
const failed: SingleReason = { _tag: "StrategyFailed", method: "GET", path: "/a", detail }
const noList: SingleReason = { _tag: "RequestFailed", detail: { message: "the response has no list b" } }
const tooMany = { _tag: "TooManyDeletions", deleted: 40, rows: 90 } as const
const at = Date.parse("2026-01-02T03:04:05.678Z")
const advice =
  "too many to be deleted at once, so none was marked deleted. If the deletions are real, run again with --accept-deletions"

const sentences: ReadonlyArray<readonly [Reason, string]> = [
  [{ _tag: "Text", text: "as it was" }, "as it was"],
  [{ _tag: "Forbidden", detail }, "refused by the service, which answers other requests: 422 too old"],
  [{ _tag: "NotOffered", detail }, "not offered by this account: 422 too old"],
  [{ _tag: "LocationUnreadable", detail }, "the location cannot be read: 422 too old"],
  [noList, "the response has no list b"],
  [
    { _tag: "EmptyBeside", beside: "message=No notes" },
    "empty lists have message=No notes beside them, in turn with lists with records: from now on, this means that there are none"
  ],
  [
    { _tag: "NotRequested", count: 5 },
    "not requested: 5, because nothing was answered for those before; the next sync begins with them"
  ],
  [
    { _tag: "NotFoundButNamed", count: 3, id: "e1" },
    "not found, although still named by the service: 3, for example e1; nothing was deleted, and the next sync requests them again"
  ],
  [
    { _tag: "OutOfOrder", field: "at" },
    "a record is not where its at belongs in the list; what was received is stored, and others may be missing"
  ],
  [{ _tag: "RequestsFailed", count: 3, id: "c1", detail }, "failed requests: 3, for example c1: 422 too old"],
  [failed, "GET /a could not be used: 422 too old"],
  [{ ...failed, dateField: "dateAdded" }, "GET /a by dateAdded could not be used: 422 too old"],
  [
    { _tag: "NoStrategyWorks", reasons: [failed, noList] },
    "GET /a could not be used: 422 too old; the response has no list b"
  ],
  [
    { _tag: "NoStrategyWorks", reasons: [failed, { ...failed, path: "/b" }, { ...failed, path: "/c" }] },
    "3 strategies could not be used, such as GET /a: 422 too old"
  ],
  [
    { _tag: "ParameterLeftOut", parameter: "altType" },
    "the service rejects the parameter altType, which is left out from now on"
  ],
  [{ _tag: "RecordsUnreadable", count: 1 }, "1 record could not be read: the service answers no page with them"],
  [{ _tag: "PartitionFailed", partition: "p", detail: { message: "no" } }, "p could not be read: no"],
  [{ _tag: "PartitionNotFound", partition: "p" }, "p, named in the settings, does not exist"],
  [{ _tag: "PartitionIgnored", partition: "p" }, "the service ignores the parameters of partition p"],
  [{ _tag: "PartitionBelowTotal" }, "a partition returned fewer records than the service counts"],
  [{ _tag: "BelowTotal", total: 450, read: 420 }, "the service counts 450 records, and 420 were read"],
  [
    { _tag: "WindowBelowTotal", missing: 7, from: at, to: at + 86_400_000 },
    "7 of the records that the service counts in 2026-01-02 to 2026-01-03 were not returned"
  ],
  [{ _tag: "ParentNeverRead", table: "contacts" }, "the parent table contacts was never read"],
  [
    { _tag: "ParentNotComplete", table: "contacts", status: "complete_with_warnings" },
    "the parent table contacts is complete with warnings"
  ],
  [{ _tag: "LinkedTextsMissing", count: 2 }, "2 linked texts could not be fetched"],
  [
    { _tag: "FilesNotFetched", status: "refused", count: 2, example: "the host answers 403" },
    "2 files refused: the host answers 403"
  ],
  [{ _tag: "FilesNotFetched", status: "not requested", count: 1, example: null }, "1 file not requested"],
  [{ _tag: "FilesStopped", why: "total" }, "the files have reached files.max_total_bytes: no further file was fetched"],
  [
    { _tag: "UndatedRecords", count: 4, field: "changed" },
    "4 records have no changed; new records without it arrive with the next full sync"
  ],
  [
    { _tag: "UndatedNotRead", field: "changed", reasons: [failed, noList] },
    "new records without changed arrive with the next full sync: GET /a could not be used: 422 too old; the response has no list b"
  ],
  [{ _tag: "RepeatedRecord" }, "a page had a record twice, with different values; the later one is kept"],
  [{ _tag: "PageNumbersLimited", records: 10_000 }, "only the first 10000 records can be reached by page number"],
  [{ _tag: "CursorStuck" }, "the cursor does not advance, and the service gives no total, so records may be missing"],
  [{ _tag: "TiesLimited", field: "at" }, "more records share one at than fit on a page; some may be missing"],
  [
    { _tag: "TimestampLimited", at },
    "more records share one timestamp (2026-01-02T03:04:05.678Z) than the service returns"
  ],
  [{ _tag: "DeletionsNotSought" }, "deleted rows were not looked for"],
  [
    { _tag: "TotalDiffers", total: 61, rows: 54 },
    "the service counts 61 records, and there are 54 rows also after a full reading; from now on, only a change of this difference makes another one necessary"
  ],
  [{ _tag: "DeletionsUnconfirmed", rows: 3 }, "3 rows were missing once, and a second reading does not confirm that"],
  [{ _tag: "MissingRowsExist", rows: 1 }, "1 row is missing from the list but still exists"],
  [{ _tag: "DeletionsUnconfirmed", rows: 1 }, "1 row was missing once, and a second reading does not confirm that"],
  [{ _tag: "MissingRowsExist", rows: 3 }, "3 rows are missing from the list but still exist"],
  [
    { _tag: "MissingRowsUnknown", rows: 3 },
    "3 rows are missing from the list, and the service did not say whether they exist"
  ],
  [{ ...tooMany, missing: 40 }, `40 of 90 rows are missing from the list: ${advice}`],
  [
    { ...tooMany, missing: 2, dependent: "notes" },
    `2 rows are missing from the list, and with them 40 of 90 rows of notes: ${advice}`
  ],
  [
    { _tag: "SchemaFrozen", fields: ["a.b"] },
    'the schema is frozen, and the service sent new fields or values: a.b. New fields are in the vault but in no table. To accept them, set accepted = ["a.b"] under [schema] in the settings file, or choose another policy there, and run ./sluice rebuild'
  ],
  [{ _tag: "RecordsWithoutKey", count: 3 }, "3 records have no key; see meta.rejected_records"]
]

describe("a reason", () => {
  it.each(sentences)("%j has its sentence, also after it was stored", (reason, sentence) => {
    assert.strictEqual(sentenceOf(reason), sentence)
    assert.deepStrictEqual(Schema.decodeUnknownSync(Schema.fromJsonString(Reason))(JSON.stringify(reason)), reason)
  })

  it("of every kind is among these", () => {
    assert.deepStrictEqual([...new Set(sentences.map(([{ _tag }]) => _tag))].sort(), Object.keys(Reason.cases).sort())
  })

  it("quotes the service in one place, wherever the reason has it", () => {
    const masked = ({ answered, message }: { readonly answered?: number; readonly message: string }) =>
      answered === undefined ? message : `status ${answered}`
    for (const [reason, sentence] of sentences)
      assert.strictEqual(sentenceOf(reason, masked), sentence.replaceAll("422 too old", "status 422"))
  })

  it("counts once if it reads the same", () => {
    const other: SingleReason = { _tag: "Text", text: sentenceOf(failed) }
    assert.deepStrictEqual(
      distinct([failed, noList, other, noList]).map((one) => sentenceOf(one)),
      [sentenceOf(failed), sentenceOf(noList)]
    )
  })
})
