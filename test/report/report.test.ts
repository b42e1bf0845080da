/** The report of real runs, compared with what the warehouse holds. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { globSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Account, discard, openTables } from "../support/account.ts"
import { query } from "../support/compare.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { leadsOf, numberIn, rowsOf, textOf, tile } from "./reading.ts"

const tables =
  "contacts,contact_notes,pipelines,opportunities,calendars,appointments,conversations,messages,users,transactions,subscriptions"
const reportOf = ({ output }: Account) => readFileSync(join(output, "published/report/index.html"), "utf8")

/** Columns of tables about models whose numbers are no counts of rows. */
const isNoCount = /^(Owners|Value|Amount|Median.*|Time .*|[A-Z]{3})$/

/** The name of a month, which may not be over. */
const over = (month: string | undefined) => month?.replace(/ so far$/, "")

describe("the report of two nights", () => {
  let account: Account
  let environment: Readonly<Record<string, string>>
  const run = async (...args: ReadonlyArray<string>) => sluice(args, environment)
  beforeAll(async () => {
    account = await openTables(
      tables,
      "--contacts",
      "60",
      "--orders",
      "400",
      "--appointments",
      "300",
      "--opportunities",
      "300"
    )
    environment = { ...account.environment, SLUICE_FORMATS: "duckdb" }
    for (const shares of [undefined, { contacts: 0.1, opportunities: 0.1, conversations: 0.1, delete: 0.05 }]) {
      if (shares) await account.service.post("change", shares)
      const { code, stderr } = await run("sync", ...account.selection)
      assert.strictEqual(code, 0, stderr)
      assert.notInclude(stderr, "The report was not written")
    }
  })
  afterAll(() => discard(account))

  it("has the rows, changes and requests that the warehouse has, for each table and resource", async () => {
    const html = reportOf(account)
    const changes = rowsOf(html, "table-changes")
    assert.isAbove(changes.length, 5)
    for (const [table, rows, ofDeleted, ...moves] of changes) {
      const [present] = await query(
        account.warehouse,
        `SELECT count(*) AS n, count(_deleted_at) AS deleted FROM crm.${table}`
      )
      assert.deepStrictEqual(
        [rows, ofDeleted].map((cell) => numberIn(cell!)),
        ["n", "deleted"].map((one) => Number(present![one])),
        table
      )
      const [sums] = await query(
        account.warehouse,
        `SELECT sum(new_rows) AS a, sum(changed_rows) AS b, sum(deleted_rows) AS c FROM meta.run_resources
         WHERE resource = '${table}' OR starts_with(resource, '${table}/')`
      )
      const expected = ["a", "b", "c"].map((one) => Number(sums![one]))
      // Behind them is a chart, if a day ended between the syncs.
      assert.deepStrictEqual(moves.slice(0, 6).map(numberIn), [...expected, ...expected], table)
    }
    const [all] = await query(
      account.warehouse,
      "SELECT sum(new_rows) AS new, sum(requests) AS sent FROM meta.run_resources"
    )
    assert.strictEqual(numberIn(tile(html, "new")), Number(all!["new"]))
    assert.strictEqual(numberIn(tile(html, "sent")), Number(all!["sent"]))
    const costs = rowsOf(html, "costs")
    assert.strictEqual(
      costs.reduce((sum, [, n]) => sum + numberIn(n!), 0),
      Number(all!["sent"])
    )
    const runs = await query(account.warehouse, "FROM meta.runs ORDER BY run_id DESC")
    const changed = await query(
      account.warehouse,
      "SELECT sum(new_rows) AS a, sum(changed_rows) AS b, sum(deleted_rows) AS c FROM meta.run_resources GROUP BY run_id ORDER BY run_id DESC"
    )
    assert.deepStrictEqual(
      rowsOf(html, "runs-table").map(([, command, status, exitCode, , requests, , ...moves]) => [
        command,
        status,
        exitCode,
        requests,
        ...moves.map(numberIn)
      ]),
      runs.map((one, index) => [
        one["command"],
        String(one["status"]).replaceAll("_", " "),
        String(one["exit_code"]),
        String(one["requests"]),
        ...["a", "b", "c"].map((key) => Number(changed[index]![key]))
      ])
    )
  })

  it("lists every resource with its state and when it was read completely", async () => {
    const html = reportOf(account)
    const readings = await query(
      account.warehouse,
      `SELECT resource, arg_max(status, run_id) AS status, strftime(any_value(complete_at), '%-d %b %H:%M') AS at
       FROM meta.run_resources JOIN meta.watermarks USING (location_id, resource) GROUP BY ALL`
    )
    assert.deepStrictEqual(
      rowsOf(html, "readings")
        .map(([resource, state, , , at]) => [resource, state, at])
        .toSorted(),
      readings
        .map((one) => [one["resource"], String(one["status"]).replace("complete_with_", ""), one["at"]])
        .toSorted()
    )
    assert.match(
      textOf(html),
      /Complete All \d+ resources are complete; the oldest, [a-z_/]+, was read on [^.]+\. The last run ended on \d+ \w+ \d{4}, \d\d:\d\d UTC/
    )
  })

  it("has the open opportunities of the service by stage, and the new contacts by source", async () => {
    const html = reportOf(account)
    const pipelines = (await account.service.records("pipelines")) as unknown as ReadonlyArray<Pipeline>
    const deals = (await account.service.records("opportunities")).filter(({ status }) => status === "open")
    const stages = pipelines.flatMap(({ name, stages: parts }) =>
      parts.map((stage) => {
        const here = deals.filter(({ pipelineStageId }) => pipelineStageId === stage.id)
        return [
          name,
          stage.name,
          here.length,
          here.reduce((sum, one) => sum + Number(one["monetaryValue"] ?? 0), 0)
        ] as const
      })
    )
    assert.deepStrictEqual(
      rowsOf(html, "stages")
        .map(([pipeline, stage, n, value]) => [pipeline, stage, numberIn(n!), numberIn(value!.replace(/^\D+/, ""))])
        .toSorted(),
      stages
        .filter(([, , n]) => n > 0)
        .map(([pipeline, stage, n, value]) => [pipeline, stage, n, Math.round(value)])
        .toSorted()
    )
    // The months are those of the location: on the first day of one, it may still be the day before there.
    const local = (moment: string) => `timezone((SELECT any_value(timezone) FROM crm.locations), ${moment})`
    const created = await query(
      account.warehouse,
      `SELECT count(*) AS n FROM crm.contacts WHERE _deleted_at IS NULL
         AND ${local("date_added")} >= date_trunc('month', ${local("now()")}) - INTERVAL 12 MONTHS`
    )
    const sources = rowsOf(html, "sources").reduce((sum, [, n]) => sum + numberIn(n!), 0)
    assert.strictEqual(sources, Number(created[0]!["n"]))
  })

  it("begins with the name of the location, and has the figures of its records by month, currency and calendar", async () => {
    const html = reportOf(account)
    const ask = (sql: string) => query(account.warehouse, sql)
    const [location] = await ask("SELECT name, timezone FROM crm.locations")
    assert.include(html, `<h1>${String(location!["name"]).replace("&", "&#38;")}</h1>`)
    const local = (column: string) => `timezone('${String(location!["timezone"])}', ${column})::DATE`
    const present = "_deleted_at IS NULL"
    const [end] = await ask(`SELECT ${local("max(started_at)")}::VARCHAR AS day FROM meta.runs`)
    const today = `DATE '${String(end!["day"])}'`
    const months = `SELECT (date_trunc('month', ${today}) - to_months(12 - i))::DATE AS month FROM range(13) AS r (i)`
    const byMonth = (relation: string, values: string) =>
      ask(`SELECT strftime(m.month, '%b %Y') AS month, ${values} FROM (${months}) AS m LEFT JOIN (${relation}) AS t
        ON date_trunc('month', t.day) = m.month GROUP BY m.month ORDER BY m.month`)

    const isIn = `status IN ('succeeded', 'refunded', 'partially_refunded', 'disputed') AND live_mode IS NOT FALSE
      AND mark_as_test IS NOT TRUE AND ${present}`
    const refunded = "if(status = 'succeeded', amount_refunded, coalesce(nullif(amount_refunded, 0), amount))"
    const payments = `SELECT ${local("created_at")} AS day, amount AS net, currency FROM crm.transactions WHERE ${isIn}
      UNION ALL SELECT ${local("updated_at")}, -${refunded}, currency FROM crm.transactions WHERE ${isIn} AND ${refunded} <> 0`
    const currencies = await ask(
      `SELECT currency, count(*) AS n FROM (${payments}) WHERE day >= (SELECT min(month) FROM (${months})) GROUP BY ALL ORDER BY n DESC, currency`
    )
    assert.isAtLeast(currencies.length, 2, "several currencies")
    for (const [index, { currency }] of currencies.entries())
      assert.deepStrictEqual(
        rowsOf(html, `revenue-by-month${index === 0 ? "" : `-${index + 1}`}`).map(([month, amount, n]) => [
          over(month),
          numberIn(amount!),
          numberIn(n!)
        ]),
        (
          await byMonth(
            `FROM (${payments}) WHERE currency = '${String(currency)}'`,
            "round(coalesce(sum(t.net), 0))::BIGINT AS net, count(t.net) AS n"
          )
        ).map((one) => [one["month"], Number(one["net"]), Number(one["n"])])
      )

    assert.deepStrictEqual(
      rowsOf(html, "outcomes-by-month").map(([month, won, lost]) => [over(month), numberIn(won!), numberIn(lost!)]),
      (
        await byMonth(
          `SELECT ${local("last_status_change_at")} AS day, status FROM crm.opportunities WHERE ${present}`,
          "count(*) FILTER (t.status = 'won') AS won, count(*) FILTER (t.status = 'lost') AS lost"
        )
      ).map((one) => [one["month"], Number(one["won"]), Number(one["lost"])])
    )

    const calendars = await ask(
      `SELECT c.name, count(*) AS booked, count(*) FILTER (appointment_status IN ('showed', 'completed')) AS attended,
         count(*) FILTER (appointment_status = 'noshow') AS missed, count(*) FILTER (appointment_status IN ('cancelled', 'invalid')) AS cancelled
       FROM crm.appointments AS a JOIN crm.calendars AS c ON a.calendar_id = c.id
       WHERE a.${present} AND a.deleted IS NOT TRUE AND a.start_time < a._synced_at
         AND ${local("a.start_time")} >= (SELECT min(month) FROM (${months})) GROUP BY ALL`
    )
    assert.isAbove(calendars.length, 1)
    assert.deepStrictEqual(
      rowsOf(html, "calendars")
        .map(([name, ...numbers]) => [name, ...numbers.slice(0, 4).map(numberIn)])
        .toSorted(),
      calendars
        .map((one) => [one["name"], ...["booked", "attended", "missed", "cancelled"].map((key) => Number(one[key]))])
        .toSorted()
    )

    const [place] = await ask(`SELECT (${local("max(started_at)")})::VARCHAR AS day FROM meta.runs`)
    const here = `DATE '${String(place!["day"])}'`
    const week = async (relation: string) => {
      const [found] = await ask(
        `SELECT count(*) FILTER (day >= ${here} - 7) AS now, count(*) FILTER (day < ${here} - 7) AS before
         FROM (${relation}) WHERE day >= ${here} - 14 AND day < ${here}`
      )
      const [now, before] = [Number(found!["now"]), Number(found!["before"])]
      const words = now === before ? "as many" : `${Math.abs(now - before)} ${now > before ? "more" : "fewer"}`
      return [now, now === 0 && before === 0 ? "" : `\\(${words}\\)`] as const
    }
    const [unclear] = await ask(
      `SELECT count(*) AS n FROM crm.opportunities WHERE ${present} AND status NOT IN ('open', 'won', 'lost', 'abandoned')`
    )
    const counts: Array<number> = []
    const [, headline = ""] = /<p class="headline">(.*?)<\/p>/s.exec(html) ?? []
    for (const [thing, relation] of [
      ["new contact", `SELECT ${local("date_added")} AS day FROM crm.contacts WHERE ${present}`],
      ["payment", `SELECT ${local("created_at")} AS day FROM crm.transactions WHERE ${isIn}`],
      [
        "appointment",
        `SELECT ${local("date_added")} AS day FROM crm.appointments WHERE ${present} AND deleted IS NOT TRUE`
      ],
      [
        "opportunit",
        `SELECT ${local("last_status_change_at")} AS day FROM crm.opportunities WHERE ${present} AND status = 'won'`
      ]
    ] as const) {
      const [now, words] = await week(relation)
      counts.push(now)
      // None is not said while one may be.
      if (thing === "opportunit" && now === 0 && Number(unclear!["n"]) > 0) assert.notInclude(textOf(headline), thing)
      else assert.match(textOf(headline), new RegExp(`${now === 0 ? "no" : now} ${thing}[^;]*${words}`))
    }
    assert.isAbove(counts.filter((n) => n > 1).length, 1, String(counts))
  })

  it("has the recurring revenue and the reply times of the models, and the figures at its top from the tables below", async () => {
    const html = reportOf(account)
    const ask = (sql: string) => query(join(account.output, "published/crm.duckdb"), sql)
    const zone = "(SELECT any_value(timezone) FROM crm.locations)"
    const since = `date_trunc('month', timezone(${zone}, (SELECT max(started_at) FROM meta.runs))) - INTERVAL 12 MONTH`
    const recurring = await ask(
      `SELECT strftime(month_start, '%b %Y') AS month, round(coalesce(sum(monthly_amount), 0))::BIGINT AS amount, count(*) AS n
       FROM bi.fct_subscription_month WHERE is_live AND counts_as = 'recurring' AND currency = 'USD' AND month_start >= ${since} GROUP BY month_start ORDER BY month_start`
    )
    assert.isAbove(recurring.length, 5)
    assert.deepStrictEqual(
      rowsOf(html, "recurring-by-month")
        .map(([month, amount, n]) => [over(month), numberIn(amount!), numberIn(n!)])
        .filter(([, , n]) => n !== 0),
      recurring.map((one) => [one["month"], Number(one["amount"]), Number(one["n"])])
    )
    const replies = await ask(
      `SELECT strftime(asked_local_date, '%b %Y') AS month, count(*) AS n, count(*) FILTER (is_replied) AS replied
       FROM bi.fct_conversation_reply WHERE asked_local_date >= ${since} GROUP BY month ORDER BY min(asked_local_date)`
    )
    assert.isAbove(replies.length, 5)
    assert.deepStrictEqual(
      rowsOf(html, "replies-by-month")
        .map(([month, n, share]) => [over(month), numberIn(n!), Math.round(Number.parseFloat(share!))])
        .filter(([, n]) => n !== 0),
      replies.map((one) => [
        one["month"],
        Number(one["n"]),
        Math.round((100 * Number(one["replied"])) / Number(one["n"]))
      ])
    )
    const [, figures = ""] = /<dl class="tiles">(.*?)<\/dl>/s.exec(html) ?? []
    const won = rowsOf(html, "outcomes-by-month").at(-2)!
    assert.include(textOf(figures), `Won ${won[1]} in ${won[0]}; ${won[2]} lost`)
    const [{ amount, n } = {}] = await ask(
      "SELECT sum(monetary_value)::DOUBLE AS amount, count(*) AS n FROM bi.fct_opportunity WHERE is_open"
    )
    const exact = Number(amount).toLocaleString("en-US", { maximumFractionDigits: 2 })
    assert.include(figures, `title="USD\u00a0${exact}"`)
    assert.include(textOf(figures), `${String(n)} opportunities`)
  })

  it("leads each number to its rows, and those that count rows of models to as many", async () => {
    const leads = leadsOf(reportOf(account)).filter(({ shown }) => !/^(0|0 %|–|)$/.test(shown))
    // The parts of the disk are no rows, and the names of small sources are not shown.
    const without = leads.filter(({ sql }) => sql === undefined)
    assert.deepStrictEqual(
      [...new Set(without.map(({ table }) => table))].filter((table) => !["disk-table", "sources"].includes(table!)),
      []
    )
    const numbers = leads.filter(({ sql }) => sql !== undefined)
    const counts = await query(
      join(account.output, "published/crm.duckdb"),
      numbers.map(({ sql }, index) => `SELECT ${index} AS i, count(*) AS n FROM (${sql})`).join(" UNION ALL ")
    )
    const found = new Map(counts.map(({ i, n }) => [Number(i), Number(n)]))
    const compared = { rows: 0, others: 0 }
    for (const [index, { head = "", shown, sql, table }] of numbers.entries()) {
      const n = found.get(index)!
      const [said] = /^(no|[\d,]+)(?=$| new | [a-z]{4})/.exec(shown) ?? []
      const isCount =
        said !== undefined && (/\bbi\./.test(sql!) || (table === "table-changes" && /^(Rows|Deleted)$/.test(head)))
      compared[isCount && !isNoCount.test(head) ? "rows" : "others"]++
      if (isCount && !isNoCount.test(head))
        assert.strictEqual(n, said === "no" ? 0 : numberIn(said), `${head} "${shown}": ${sql}`)
      // An amount, a share, a median and what runs did have rows behind them.
      else if (said !== "no") assert.isAbove(n, 0, `${head} ${shown}: ${sql}`)
    }
    assert.isAbove(compared.rows, 100)
    assert.isAbove(compared.others, 100)
  })

  it("is equal byte for byte when it is made again, and is not part of the release", { tags: ["slow"] }, async () => {
    const before = reportOf(account)
    const path = join(account.output, "published/report/index.html")
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    rmSync(path)
    const made = await run("report")
    assert.strictEqual(made.code, 0, made.stderr)
    assert.include(made.stdout, "Complete, as of ")
    assert.strictEqual(reportOf(account), before)
    const elsewhere = join(newFolder(), "r.html")
    assert.strictEqual((await run("report", "--to", elsewhere)).code, 0)
    assert.strictEqual(readFileSync(elsewhere, "utf8"), before)
    const verified = await run("verify")
    assert.strictEqual(verified.code, 0, verified.stdout)
    assert.notInclude(readFileSync(join(account.output, "published/manifest.json"), "utf8"), "report/")
    const { mtimeMs } = statSync(path)
    const again = await run("publish")
    assert.match(again.stdout, /^Nothing has changed/)
    assert.strictEqual(statSync(path).mtimeMs, mtimeMs, "the warehouse is older")
    const later = new Date(mtimeMs + 1)
    utimesSync(account.warehouse, later, later)
    assert.match((await run("publish")).stdout, /^Nothing has changed/)
    assert.isAbove(statSync(path).mtimeMs, mtimeMs, "the warehouse is newer")
    assert.strictEqual(reportOf(account), before)
  })

  it("shows no e-mail address, telephone number or name of a contact", async () => {
    const html = reportOf(account)
    const text = textOf(html)
    const contacts = await account.service.records("contacts")
    const users = await account.service.records("users")
    assert.isAbove(contacts.length, 50)
    for (const { email, phone, firstName, lastName, name } of [...contacts, ...users]) {
      for (const value of [email, phone, name, firstName && lastName && `${firstName} ${lastName}`])
        if (typeof value === "string" && value !== "") assert.notInclude(html, value)
      if (typeof lastName === "string" && lastName !== "") assert.notInclude(text.split(/\W+/), lastName)
    }
    assert.notMatch(text, /[\w.]+@[\w-]+\.\w+/)
  })

  it("is in each release, and an error in writing it is only a warning", { tags: ["slow"] }, async () => {
    const published = join(account.output, "published")
    assert.lengthOf(globSync("*/report/index.html", { cwd: join(account.output, ".published") }), 2)
    rmSync(join(published, "report"), { recursive: true })
    writeFileSync(join(published, "report"), "")
    const blocked = await run("publish")
    assert.strictEqual(blocked.code, 0)
    assert.match(blocked.stderr, /^The report was not written: .*report.* could not be written/m)
    rmSync(join(published, "report"))
    mkdirSync(join(published, "report"))
    const named = await run("report", "--json")
    assert.deepInclude(JSON.parse(named.stdout).data, { source: "warehouse", state: "Complete" })
  })
})

interface Pipeline {
  readonly name: string
  readonly stages: ReadonlyArray<{ readonly id: string; readonly name: string }>
}
