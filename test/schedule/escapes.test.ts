/** Hostile paths come out of each file of a schedule as they went in, read by the rules of its reader. */
import { assert, it } from "@effect/vitest"
import { cron, launchd, nightlyScript, systemd } from "../../src/features/operations/schedule/files.ts"
import { type Schedule, oddDays, offsetAt, offsetsOf } from "../../src/features/operations/schedule/schedule.ts"

/** The words of a line, as a shell reads single quotes and backslashes. */
const shellWords = (line: string): ReadonlyArray<string> =>
  (line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted, one) => quoted ?? one)
  )
/** The same, as systemd reads double quotes, and % and $ that stand for themselves. */
const systemdWords = (line: string): ReadonlyArray<string> =>
  (line.match(/"(?:\\.|[^"\\])*"|\S+/g) ?? []).map((word) =>
    (word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, "$1") : word)
      .replaceAll("%%", "%")
      .replaceAll("$$", "$")
  )
const xmlTexts = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/<string>([^<]*)<\/string>/g), ([, one]) =>
    one!.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
  )

it.each(["plain", "a b", "100%", "$HOME & <x>", `it's "so" \\ here`, "&amp;lt;"])("a path with %s", (odd) => {
  const schedule: Schedule = {
    hour: 2,
    minute: 5,
    timeZone: "Europe/Berlin",
    program: `/opt/${odd}/sluice`,
    folder: `/srv/${odd}`,
    output: `/data/${odd}`,
    user: "crm",
    flags: ["--config", `/etc/${odd}.toml`]
  }
  const { folder, output, program } = schedule
  const flags = schedule.flags

  const script = nightlyScript(schedule, Date.UTC(2026, 0, 1))
  assert.deepStrictEqual([script.path, script.isExecutable], [`${folder}/sluice-nightly`, true])
  const lineOf = (start: string) =>
    script.text
      .split("\n")
      .find((line) => line.trim().startsWith(start))!
      .trim()
  assert.deepStrictEqual(shellWords(lineOf("cd ")), ["cd", folder, "||", "exit", "1"])
  assert.deepStrictEqual(shellWords(lineOf("mkdir ")).slice(0, 3), ["mkdir", "-p", output])
  assert.deepStrictEqual(shellWords(lineOf("state=")), [`state=${output}/nightly`])
  assert.deepStrictEqual(shellWords(lineOf("sluice=")), [`sluice=${program}`])
  assert.deepStrictEqual(shellWords(lineOf(". ")), [".", `${folder}/config/environment`])
  assert.deepStrictEqual(shellWords(lineOf('"$sluice" sync').replace(/ >.*/, "")).slice(1), ["sync", ...flags])
  assert.deepStrictEqual(shellWords(lineOf('"$sluice" check').replace(/ >.*/, "")).slice(1), ["check", ...flags])
  assert.include(script.text, "| +0100 +0200 |")
  assert.include(script.text, "-ge 0205 ]")

  const [service] = systemd(schedule)
  const ofKey = (key: string) =>
    Array.from(service!.text.matchAll(new RegExp(`^${key}=(.*)$`, "gm")), ([, value]) => value!)
  assert.deepStrictEqual(ofKey("WorkingDirectory"), [folder.replaceAll("%", "%%")])
  assert.deepStrictEqual(ofKey("ExecStart").map(systemdWords), [
    [program, "sync", "--wait", "30m", ...flags],
    [program, "check", ...flags]
  ])
  assert.deepStrictEqual(ofKey("User"), ["crm"])

  const [own, table] = cron(schedule)
  assert.strictEqual(own!.path, script.path)
  const [call] = table!.text.split("\n").filter((line) => line.startsWith("*/15"))
  assert.notMatch(call!, /(?<!\\)%/)
  assert.deepStrictEqual(shellWords(call!.replaceAll("\\%", "%")).slice(5), [script.path])

  const [, plist] = launchd(schedule)
  assert.includeMembers([...xmlTexts(plist!.text)], [script.path, folder, `${output}/nightly.launchd.log`])
})

it("odd days are those on which the clock skips the time or shows it twice, and every offset of a year is known", () => {
  const from = Date.UTC(2027, 0, 1)
  const berlin = (hour: number) => oddDays({ hour, minute: 30, timeZone: "Europe/Berlin" }, from)
  assert.deepStrictEqual(berlin(2), [
    { day: "2027-03-28", times: 0 },
    { day: "2027-10-31", times: 2 }
  ])
  for (const hour of [0, 1, 3, 12, 23]) assert.deepStrictEqual(berlin(hour), [])
  assert.deepStrictEqual(oddDays({ hour: 2, minute: 30, timeZone: "UTC" }, from), [])
  assert.sameMembers([...offsetsOf("Europe/Berlin", from)], [60, 120])
  assert.sameMembers([...offsetsOf("Asia/Kolkata", from)], [330])
  assert.strictEqual(offsetAt("America/New_York", from), -300)
})
