/** Every command line of the pages is parsed with the flags and arguments that the commands have, and not run. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Context, Effect, Exit } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { flags as sandboxFlags, readOptions } from "../sandbox/flags.ts"
import { allCommands, sluice } from "../src/cli/commands.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { commandAt } from "../src/command/command.ts"
import { commandIn } from "../src/console/given-flags.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const pages = globSync(["*.md", "{docs,examples,sandbox,bench,output,src,config}/**/*.md"], {
  cwd: root
}).filter((page) => page !== "CHANGELOG.md")

interface Line {
  readonly page: string
  readonly text: string
  /** A sentence may name a command without all that it needs. */
  readonly isNamed: boolean
}

/** The command lines of blocks of code, and those of sentences. */
const linesOf = (page: string): ReadonlyArray<Line> => {
  const content = readFileSync(`${root}/${page}`, "utf8")
  const block = /^ *```(\w*)\n(.*?)^ *```$/gms
  const blocks = [...content.matchAll(block)].map(([, , text]) => text!.replaceAll(/\\\n\s*/g, " "))
  const spans = [...content.replaceAll(block, "").matchAll(/`([^`]+)`/g)].map(([, text]) => text!.replaceAll("\n", " "))
  // A value of JSON ends with its quotation mark.
  const commands = (texts: ReadonlyArray<string>) =>
    texts.flatMap((text) => text.match(/(?<=")\.\/sluice [^"\n]*(?=")|(?<!")\.\/sluice [^\n]*/g) ?? [])
  return [
    ...commands(blocks).map((text) => ({ page, text, isNamed: false })),
    ...commands(spans).map((text) => ({ page, text, isNamed: true }))
  ]
}

/** The words of the first command, as a shell splits them. */
const wordsOf = (line: string): ReadonlyArray<string> => {
  const [, command] = /^\.\/sluice ((?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^#|;&()>"'])*)/.exec(line)!
  return (command!.match(/(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'])+/g) ?? []).map((word) =>
    word.replaceAll(/^(["'])(.*)\1$/g, "$2")
  )
}

/** What is wrong with the words of a command; `undefined` if it would begin. */
const problemOf = async (words: ReadonlyArray<string>, isNamed: boolean): Promise<string | undefined> => {
  if (words[0] === "sandbox") return sandboxProblem(words.slice(1))
  if (words[0] === "help" && words.length === 1) return undefined
  if (words[0] === "help") return problemOf(words.slice(1), true)
  const { command: described, path } = commandIn(words, allCommands())
  if (path.length === 0) return "there is no such command"
  const rest = words.slice(path.length)
  if (isNamed && rest.length === 0) return undefined
  if (described.subcommands.length > 0) return rest[0] === "--help" ? undefined : "it needs a subcommand"
  const leaf = commandAt(sluice, path) as Command.Command<string, unknown, unknown, never, never>
  const parse = Command.runWith(
    Command.withHandler(leaf, () => Effect.void),
    { version: "", renderErrors: false }
  )
  const exit = await Effect.runPromiseExit(
    parse(rest).pipe(Effect.provide(NodeServices.layer), Effect.provideContext(quiet))
  )
  if (Exit.isSuccess(exit)) return undefined
  return JSON.stringify(exit.cause).slice(0, 300)
}

/** The parser prints the help of a command beside what is wrong. */
const quiet = Context.make(
  Console.Console,
  new Proxy({}, { get: () => () => undefined }) as Context.Service.Shape<typeof Console.Console>
).pipe(Context.add(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help] })))

const sandboxProblem = (args: ReadonlyArray<string>): string | undefined => {
  try {
    readOptions(parseArgs({ args: [...args], options: sandboxFlags }).values)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe("the command lines of the pages", () => {
  it("name commands, flags and arguments that there are", async () => {
    const lines = pages.flatMap(linesOf)
    const problems: Array<string> = []
    // Many pages name the same one.
    for (const { isNamed, page, text } of new Map(lines.map((line) => [line.text, line])).values()) {
      const problem = await problemOf(wordsOf(text), isNamed)
      if (problem !== undefined) problems.push(`${page}: ${text}: ${problem}`)
    }
    assert.isAbove(lines.length, 200)
    assert.deepStrictEqual(problems, [])
  })

  it("begin the page of each task, to which README and the list of pages lead", () => {
    const textOf = (page: string) => readFileSync(`${root}/${page}`, "utf8")
    const pagesIn = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name]) => name!)
    const [, listed = ""] = /## Seven tasks.*?\n(.*?)\n## /s.exec(textOf("docs/README.md")) ?? []
    const tasks = pagesIn(listed, /\]\(([\w-]+\.md)\)/g)
    assert.strictEqual(tasks.length, 7)
    assert.deepStrictEqual(pagesIn(textOf("README.md"), /^# .*: docs\/([\w-]+\.md)$/gm), tasks)
    for (const task of tasks) {
      const [, , first = ""] = /```(sh)\n(.*?)```/s.exec(textOf(`docs/${task}`)) ?? []
      assert.isAtLeast(first.match(/^\.\/sluice /gm)?.length ?? 0, 3, task)
    }
  })

  it.each([
    ["snyc", "no such command"],
    ["sync --onyl contacts", "onyl"],
    ["sync contacts", "contacts"],
    ["completions", "shell"],
    ["fleet", "subcommand"],
    ["sandbox --contact 5", "contact"],
    ["sync --again some", "some"]
  ])("would not be found right if they were wrong: %s", async (line, expected) => {
    assert.include(await problemOf(wordsOf(`./sluice ${line}`), false), expected)
  })
})
