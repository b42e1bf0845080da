/** The live display in a pseudo-terminal, and its absence where no terminal can show it. */
import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { buffer } from "node:stream/consumers"
import { type Account, discard, openAccount } from "../support/account.ts"
import { start } from "../support/process.ts"
import { newFolder } from "../support/sluice.ts"
import { hasPython } from "../support/programs.ts"
import { Screen, type Size, launcher, openTerminal } from "../support/terminal.ts"

if (!hasPython) console.log("The display is not tested: python3, which opens the pseudo-terminal, is missing.")

/** What only the display shows. */
const ofDisplay = /^resource +pages|more running|\d waiting|resources? done|^\[[#-]+\]|budget \d+\/\d+/

const terminals: ReadonlyArray<Size> = [
  { columns: 120, rows: 40 },
  { columns: 80, rows: 24 },
  { columns: 40, rows: 24 }
]

/** The output in pieces, of which each but the first begins by erasing the display. */
const frames = (output: string) => output.replaceAll("\r\u001b[", "\0\r\u001b[").split("\0")

/** The lines of the table, and of messages, as a terminal of this width shows them. */
const shown = (screen: Screen) => screen.lines.filter((line) => line.trim() !== "")

const withAccount = async (flags: ReadonlyArray<string>, use: (account: Account) => Promise<void>) => {
  const account = await openAccount(...flags)
  try {
    await use(account)
  } finally {
    discard(account)
  }
}

describe.skipIf(!hasPython)("the display", () => {
  it.each(terminals)("of %j stays on the screen, and leaves the messages and the result only", (size) =>
    withAccount(["--contacts", "60", "--latency", "50-150", "--limits", "100/2000/200000"], async (account) => {
      const { code, output } = await openTerminal(["sync"], account.environment, size).ended
      assert.strictEqual(code, 0, output)
      const screen = new Screen(size)
      const parts = frames(output)
      assert.isAbove(parts.length, 5, "the display was drawn")
      let displayed = 0
      for (const part of parts.slice(0, -1)) {
        screen.write(part)
        const scrolled = screen.lines.slice(0, screen.top)
        assert.deepStrictEqual(
          scrolled.filter((line) => ofDisplay.test(line)),
          []
        )
        // The sums appear once, at the end.
        const sums = screen.lines.filter((line) => /^\d+ (s|min) · /.test(line))
        assert.isAtMost(sums.length, 1)
        displayed += sums.length
      }
      assert.isAbove(displayed, 5)
      screen.write(parts.at(-1)!)
      assert.deepStrictEqual(
        shown(screen).filter((line) => ofDisplay.test(line)),
        []
      )
      assert.strictEqual(screen.column, 0)
      assert.strictEqual(screen.lines.at(-1), "")
      assert.strictEqual(shown(screen).at(-1), "Next: ./sluice explore --open")
    })
  )

  it("shows messages above itself, and a second sync the share of the plan", () =>
    withAccount(["--contacts", "120", "--latency", "100", "--limits", "40/2000/200000"], async (account) => {
      const size = { columns: 80, rows: 24 }
      const sync = ["sync", "--only", "contacts,contact_notes"]
      assert.strictEqual((await openTerminal(sync, account.environment, size).ended).code, 0)
      const { code, output } = await openTerminal([...sync, "--again=all", "-v"], account.environment, size).ended
      assert.strictEqual(code, 0, output)
      const screen = new Screen(size)
      let withBar = 0
      for (const part of frames(output)) {
        screen.write(part)
        if (screen.lines.some((line) => /^\[[#-]+\] \d+ %$/.test(line))) withBar++
      }
      assert.isAbove(withBar, 2)
      const lines = shown(screen)
      const text = screen.lines.join("\n")
      assert.match(text, /^Planned: .*[\d,]+ requests( \(.*\))?\.$/m)
      assert.isAbove(lines.filter((line) => /^\S+Z DEBUG request /.test(line)).length, 100)
      assert.deepStrictEqual(
        lines.filter((line) => ofDisplay.test(line)),
        []
      )
    }))

  it("leaves a clean line when Ctrl-C stops the run with 130", () =>
    withAccount(["--contacts", "200", "--latency", "100"], async (account) => {
      const size = { columns: 80, rows: 24 }
      const session = openTerminal(["sync"], account.environment, size)
      await account.service.requested(100)
      session.press("\u0003")
      const { code, output } = await session.ended
      assert.strictEqual(code, 130)
      const screen = new Screen(size).write(output)
      const [stopping, read, next] = shown(screen).slice(-3)
      assert.strictEqual(stopping, "! Stopping; progress is saved. Press Ctrl-C again to quit now.")
      assert.match(read!, /^Read until the stop: [\d,]+ records with \d+ requests\.$/)
      assert.strictEqual(next, "Next: run the same command again; it resumes from the last saved page.")
      assert.deepStrictEqual(
        shown(screen).filter((line) => ofDisplay.test(line) || line.includes("^C")),
        []
      )
      assert.strictEqual(screen.column, 0)
    }))

  it("breaks no word of a message, and marks warnings and errors", () =>
    withAccount(["--contacts", "20"], async (account) => {
      await account.service.post("token", { removeScope: "contacts.readonly" })
      const sync = ["sync", "--only", "contacts,pipelines"]
      const wide = await openTerminal(sync, account.environment, { columns: 1000, rows: 24 }).ended
      for (const columns of [120, 80, 60, 40]) {
        const { output } = await openTerminal(sync, account.environment, { columns, rows: 24 }).ended
        const wordsOf = (text: string, width: number) =>
          new Set(
            shown(new Screen({ columns: width, rows: 24 }).write(text))
              .filter((line) => line.startsWith("Next: ") || line.startsWith("! "))
              .flatMap((line) => line.trim().split(/ +/))
          )
        const all = wordsOf(wide.output, 1000)
        assert.isTrue(all.has("doctor,"), wide.output)
        assert.deepStrictEqual(
          [...wordsOf(output, columns)].filter((word) => !all.has(word)),
          []
        )
      }
      const missing = await openTerminal(["plan", "--output", "/proc/nope"], account.environment, terminals[0]!).ended
      assert.include(missing.output, "\u001b[31m✗\u001b[39m ")
    }))

  it("colours the word incomplete, but not with NO_COLOR", () =>
    withAccount(["--contacts", "20"], async (account) => {
      await account.service.post("token", { removeScope: "contacts.readonly" })
      const run = (environment: Readonly<Record<string, string>>) =>
        openTerminal(
          ["sync", "--only", "contacts,pipelines"],
          { ...account.environment, ...environment },
          terminals[0]!
        ).ended
      const coloured = await run({})
      assert.strictEqual(coloured.code, 3, coloured.output)
      assert.include(coloured.output, "\u001b[31mincomplete\u001b[39m")
      assert.isFalse((await run({ NO_COLOR: "1" })).output.split("\u001b").some((part) => /^\[3\dm/.test(part)))
    }))

  it.each([{ TERM: "dumb" }, { CI: "true" }])("is absent with %j, without any escape sequence", (environment) =>
    withAccount(["--contacts", "20"], async (account) => {
      const session = openTerminal(["sync"], { ...account.environment, ...environment }, terminals[0]!)
      const { code, output } = await session.ended
      assert.strictEqual(code, 0, output)
      assert.notInclude(output, "\u001b")
      assert.match(output, /message="run ended"/)
    })
  )
})

const script = spawnSync("script", ["--version"]).status === 0
if (!script) console.log("The marks are not tested in other terminals: script, of util-linux, is missing.")

describe.skipIf(!script)("a terminal of script", () => {
  it("has marks and colours in sync, status and check, but not with NO_COLOR", () =>
    withAccount(["--contacts", "20"], async (account) => {
      const run = async (command: string, more: Readonly<Record<string, string>> = {}) => {
        const words = ["-qec", `${launcher} ${command}`, "/dev/null"]
        const env = { PATH: process.env["PATH"], TERM: "xterm-256color", ...account.environment, ...released, ...more }
        const child = spawn("script", words, { env, stdio: ["ignore", "pipe", "inherit"] })
        return buffer(child.stdout).then(String)
      }
      const released = { SLUICE_FORMATS: "csv", SLUICE_MODELS: "false" }
      const mark = (colour: number, sign: string) => `\u001b[${colour}m${sign}\u001b[39m `
      const sync = "sync --only contacts,pipelines,users"
      assert.include(await run(sync), mark(32, "✔"))
      const status = await run("status --only contacts,pipelines,users")
      assert.include(status, `${mark(32, "✔")}All 5 resources are complete`)
      assert.include(await run("check"), `${mark(32, "✔")}ok: no alarms`)
      await account.service.post("token", { removeScope: "contacts.readonly" })
      assert.include(await run(sync), mark(33, "!"))
      assert.include(await run("status"), "\u001b[31mincomplete\u001b[39m")
      assert.match((await run("check")).split(mark(31, "✗"))[1] ?? "", /^\d+ alarms?; /)
      for (const command of [sync, "status", "check"])
        assert.notMatch((await run(command, { NO_COLOR: "1" })).replaceAll("\u001b", "ESC"), /ESC\[3\d|[✔✗]/, command)
    }))
})

describe("a pipe", () => {
  it("receives no escape sequence, even if colours are forced", () =>
    withAccount(["--contacts", "20"], async (account) => {
      const { code, stdout, stderr } = await start(["sync"], { ...account.environment, FORCE_COLOR: "1" }).ended
      assert.strictEqual(code, 0, stderr)
      assert.notInclude(stdout + stderr, "\u001b")
    }))
})

describe.skipIf(!hasPython)("init in a terminal", () => {
  it(
    "explains each question, asks again for what is wrong, and names the account",
    () =>
      withAccount(["--contacts", "3"], async ({ service }) => {
        const folder = newFolder()
        const path = join(folder, "sluice.toml")
        const session = openTerminal(["init", "--config", path], {}, { columns: 100, rows: 40 })
        const answer = async (question: RegExp, text: string) => {
          await session.shows(question)
          session.press(`${text}\r`)
        }
        await session.shows(/Where the API of the Account Platform is, for example https:/)
        await answer(/Address of the API.*›/, "services.example")
        await session.shows(/expected an http/)
        // A paste replaces what was refused.
        await answer(/Address of the API.*›/, "http://127.0.0.1:9")
        await answer(/Token.*›/, "noSuchToken")
        await answer(/Location id.*›/, "noSuchLocation")
        // Only what may be wrong is asked again: the address, then the token, then what decides about the location.
        await session.shows(/✗.* 127\.0\.0\.1/)
        await answer(/Address of the API.*›/, service.url)
        await session.shows(/does not accept the token/)
        await answer(/Token \(Enter keeps it\).*›/, service.token)
        await session.shows(/may not read location noSuchLocation|noSuchLocation cannot be read/)
        assert.isFalse(existsSync(path))
        await answer(/Token \(Enter keeps it\).*›/, "")
        await answer(/Location id.*›/, service.locationId)
        await answer(/Another location id.*›/, service.locationId)
        await session.shows(/is named already/)
        await answer(/Another location id.*›/, "north")
        await answer(/Token.*›/, "noSuchToken")
        await session.shows(/accept the token of\s+location\s+north/)
        await answer(/Another location id.*›/, "")
        await answer(/Time of the nightly sync.*›/, "25:00")
        await session.shows(/expected a list of times/)
        await answer(/Time of the nightly sync.*›/, "03:30")
        // As it said: nothing is written before the last answer.
        assert.isFalse(existsSync(path))
        await answer(/Mail address.*›/, "ops@example.com")
        const { code, output } = await session.ended
        assert.strictEqual(code, 0, output)
        assert.notMatch(output, /same command|SLUICE_|account\./)
        const [location] = await service.records("locations")
        assert.include(output, `Reached ${String(location!["name"])} (location ${service.locationId}).`)
        const content = readFileSync(path, "utf8")
        for (const line of ['formats = ["duckdb"]', 'times = ["03:30"]', 'mail_to = "ops@example.com"'])
          assert.include(content, `\n${line}\n`)
        const again = openTerminal(["init", "--config", path], {}, { columns: 100, rows: 40 })
        const told = (await again.ended).output.replaceAll(/\s+/g, " ")
        assert.match(told, /already; --add adds a location.*Next: .*init .*--add/)
        assert.include(output.replaceAll(/\s+/g, " "), "A part of it may be missing")
        assert.strictEqual(readFileSync(path, "utf8"), content)
      }),
    30_000
  )
  it("writes nothing if it is ended before the last answer", () =>
    withAccount(["--contacts", "3"], async ({ service }) => {
      const path = join(newFolder(), "config", "sluice.toml")
      const session = openTerminal(["init", "--config", path], {}, { columns: 100, rows: 40 })
      for (const [question, text] of [
        [/Address of the API.*›/, service.url],
        [/Token.*›/, service.token],
        [/Location id.*›/, service.locationId]
      ] as const) {
        await session.shows(question)
        session.press(`${text}\r`)
      }
      await session.shows(/Another location id.*›/)
      session.press("\u0003")
      const { code, output } = await session.ended
      assert.strictEqual(code, 130, output)
      assert.include(output, "Nothing was written.")
      assert.isFalse(existsSync(dirname(path)))
    }))
})
