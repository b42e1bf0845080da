/** The script of cron and launchd, run by a shell with a sluice and a clock of the test. */
import { afterEach, assert, beforeEach, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { nightlyScript } from "../../src/features/operations/schedule/files.ts"
import { newFolder } from "../support/sluice.ts"

let folder: string
let script: string
beforeEach(() => {
  // With a blank and a quote, which the script must survive.
  folder = join(newFolder(), "it's here")
  mkdirSync(join(folder, "bin"), { recursive: true })
  const program = (name: string, text: string) => {
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(folder, "bin", name), 0o755)
  }
  program("sluice", `echo "$1" >> ${"calls"}; echo "did $1"; exit "$(cat "code-$1" 2>/dev/null || echo 0)"`)
  program("date", 'case $1 in +%H%M) echo "$NOW" ;; *) echo "$TODAY" ;; esac')
  const { text } = nightlyScript({
    hour: 2,
    minute: 30,
    timeZone: "Europe/Berlin",
    program: join(folder, "bin", "sluice"),
    folder,
    output: join(folder, "output"),
    user: "sluice",
    flags: []
  })
  script = join(folder, "sluice-nightly")
  writeFileSync(script, text)
})
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }))

/** The commands that one call ran, and what it printed. */
const call = (today: string, now: string, codes: Readonly<Record<string, number>> = {}) => {
  for (const command of ["sync", "check"]) writeFileSync(join(folder, `code-${command}`), String(codes[command] ?? 0))
  rmSync(join(folder, "calls"), { force: true })
  const { stdout, stderr, status } = spawnSync("sh", [script], {
    encoding: "utf8",
    env: { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, TODAY: today, NOW: now }
  })
  assert.strictEqual(stderr, "")
  assert.strictEqual(status, 0)
  const calls = join(folder, "calls")
  return [existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n").join(" ") : "", stdout.split("\n")[0]]
}
/** Lets the hour pass that the script waits after code 75. */
const anHourLater = () => utimesSync(join(folder, "output", "nightly.later"), 0, 0)

it("runs once a day, from its time on, and makes up for a night in which the machine was off", () => {
  assert.deepStrictEqual(call("2026-03-01", "0215"), ["", ""])
  assert.deepStrictEqual(call("2026-03-01", "0230"), ["sync check", ""])
  assert.deepStrictEqual(call("2026-03-01", "0245"), ["", ""])
  assert.deepStrictEqual(call("2026-03-02", "0915"), ["sync check", ""])
  assert.deepStrictEqual(call("2026-03-02", "0930"), ["", ""])
})

it("runs once in the night that skips its time, and once in the night that shows it twice", () => {
  const quarters = (...hours: ReadonlyArray<string>) =>
    hours.flatMap((hour) => ["00", "15", "30", "45"].map((minute) => hour + minute))
  const runs = (day: string, times: ReadonlyArray<string>) =>
    times.filter((time) => call(day, time)[0] !== "").map((time) => time)
  assert.deepStrictEqual(runs("2027-03-28", quarters("00", "01", "03", "04")), ["0300"])
  assert.deepStrictEqual(runs("2027-10-31", quarters("00", "01", "02", "02", "03")), ["0230"])
})

it("says once a day that the machine has no data of time zones, and runs nevertheless", () => {
  const TZDIR = join(folder, "no-zones")
  rmSync(join(folder, "bin", "date"))
  const shell = (zone: string, env: Readonly<Record<string, string>>) => {
    const place = join(folder, zone.replaceAll("/", "-"))
    mkdirSync(place)
    const schedule = {
      hour: 0,
      minute: 0,
      timeZone: zone,
      program: "true",
      folder: place,
      output: place,
      user: "u",
      flags: []
    }
    writeFileSync(script, nightlyScript(schedule).text)
    const said = () => spawnSync("sh", [script], { encoding: "utf8", env: { PATH: "/usr/bin:/bin", ...env } }).stdout
    return [said(), said()]
  }
  for (const zone of ["Asia/Kolkata", "America/New_York", "Europe/Berlin"]) {
    const [first, second] = shell(zone, { TZDIR })
    assert.include(first, `This machine does not know the time zone ${zone}`)
    assert.strictEqual(second, "")
  }
  for (const [zone, env] of [
    ["UTC", { TZDIR }],
    ["Africa/Abidjan", { TZDIR }],
    ["Asia/Tokyo", {}]
  ] as const)
    assert.deepStrictEqual(shell(zone, env), ["", ""], zone)
})

it.each([1, 2, 3, 77, 78])("exit code %d: says so once, and waits for the next night", (sync) => {
  assert.deepStrictEqual(call("2026-03-01", "0230", { sync }), [
    "sync check",
    `sluice sync ended with exit code ${sync}. The end of ${join(folder, "output", "nightly")}.log:`
  ])
  assert.deepStrictEqual(call("2026-03-01", "0245"), ["", ""])
  assert.deepStrictEqual(call("2026-03-02", "0230"), ["sync check", ""])
})

it("exit code 75: resumes an hour later, and checks the data once a day", () => {
  assert.deepStrictEqual(call("2026-03-01", "0230", { sync: 75 }), ["sync check", ""])
  assert.deepStrictEqual(call("2026-03-01", "0245", { sync: 75 }), ["", ""])
  anHourLater()
  assert.deepStrictEqual(call("2026-03-01", "0345", { sync: 75 }), ["sync", ""])
  anHourLater()
  assert.deepStrictEqual(call("2026-03-01", "0445"), ["sync", ""])
  assert.deepStrictEqual(call("2026-03-01", "0600"), ["", ""])
})

it.each([11, 130, 143])("exit code %d: the next call tries again", (sync) => {
  assert.deepStrictEqual(call("2026-03-01", "0230", { sync }), ["sync", ""])
  assert.deepStrictEqual(call("2026-03-01", "0245"), ["sync check", ""])
})

it("prints the alarms of a check", () => {
  assert.deepStrictEqual(call("2026-03-01", "0230", { check: 4 }), ["sync check", "did check"])
})
