/** `sluice subject reidentify`: finds the contact for whom a pseudonym of a masked release stands. */
import { Effect, Result } from "effect"
import { definePseudonyms, parsePseudonym, pseudonymSql } from "../../../stages/publish/masking/pseudonyms.ts"
import type { Flags } from "../../../settings/read.ts"
import { SettingsError } from "../../../settings/errors.ts"
import { outputSettings } from "../../../settings/settings.ts"
import { literal } from "../../../stores/warehouse/sql.ts"
import { Warehouse } from "../../../stores/warehouse/warehouse.ts"
import { Environment } from "../../../values/environment.ts"
import { configError, failedError, usageError } from "../../../console/errors.ts"
import { table } from "../../../console/streams.ts"
import { openReadable } from "../../../command/readable.ts"
import { record } from "../../../command/recorded.ts"
import { info, shown } from "../../../console/result.ts"

/** Computes the pseudonyms of all contacts again, because a pseudonym cannot be reversed. */
export const reidentify = Effect.fn("command.reidentify")(function* (
  flags: Flags & { readonly pseudonym: string; readonly reason: string }
) {
  const output = yield* outputSettings(flags, yield* Environment)
  const { pseudonym } = flags
  const reason = flags.reason.trim()
  const parsed = parsePseudonym(pseudonym)
  const columns = parsed && addressesByKind[parsed.kind]
  if (!parsed || !columns)
    return yield* usageError(
      `${pseudonym} is no pseudonym of a contact: these begin with con_, eml_ or tel_ and the name of the key, and end with 26 characters.`,
      "./sluice subject reidentify --help"
    )
  if (reason === "")
    return yield* usageError(
      "--reason is empty: it says why the person has to be known.",
      `./sluice subject reidentify ${pseudonym} --reason "request of the person, ticket 123"`
    )
  const found = output.publishing.key()
  if (Result.isFailure(found)) return yield* new SettingsError({ problems: [found.failure] })
  const key = found.success
  if (key.id !== parsed.keyId)
    return yield* configError(
      `${pseudonym} was made with the key ${parsed.keyId}, and masking.key_id is ${key.id}.`,
      `Set masking.key to the key ${parsed.keyId} and masking.key_id = "${parsed.keyId}", then run the same command again.`
    )
  const readable = yield* openReadable(output)
  if (readable.source === "none") return yield* readable.locked
  const contacts = yield* Effect.gen(function* () {
    yield* definePseudonyms(key)
    const matches = columns.map(
      ({ from, id, value }) =>
        `SELECT location_id, ${id} AS id FROM ${from} WHERE ${pseudonymSql(parsed.kind, key, value)} = ${literal(pseudonym)}`
    )
    return yield* (yield* Warehouse).rows(
      `SELECT location_id, id, name, email, phone FROM crm.contacts WHERE (location_id, id) IN (${matches.join(" UNION ")}) ORDER BY ALL`
    )
  }).pipe(Effect.provide(readable.tables))
  // Every search leaves a trace before its result is shown, also one without a result.
  yield* record(output.folder, "reidentify", { pseudonym, reason, contacts: contacts.length })
  if (contacts.length === 0)
    return yield* failedError(
      `No contact in ${output.folder} has the pseudonym ${pseudonym}.`,
      "Check that masking.key is the key of that release, and that the release is of this account."
    )
  const textOf = (value: unknown) => (value === null || value === undefined ? "" : String(value))
  const rows = contacts.map(({ location_id, id, name, email, phone }) => ({
    location: textOf(location_id),
    id: textOf(id),
    name: textOf(name),
    email: textOf(email),
    phone: textOf(phone)
  }))
  return shown("subject-reidentify", { exitCode: 0, data: { pseudonym, contacts: rows } }, () => [
    ...table(["location", "contact", "name", "email", "phone"], rows.map(Object.values<string>)),
    info(`Next: ./sluice publish --stdout contacts --where "id = '${rows[0]?.id}'" shows the whole row.`)
  ])
}, Effect.scoped)

/** Where the addresses of contacts are, also those of earlier versions. */
const addresses = (of: "email" | "phone") =>
  ["crm", "crm_history"].flatMap((schema) => [
    { from: `${schema}.contacts`, id: "id", value: of },
    { from: `${schema}.contact_${of}s`, id: "contact_id", value: of }
  ])
const addressesByKind: Readonly<
  Partial<Record<string, ReadonlyArray<{ readonly from: string; readonly id: string; readonly value: string }>>>
> = {
  contact: [{ from: "crm.contacts", id: "id", value: "id" }],
  email: addresses("email"),
  phone: addresses("phone")
}
