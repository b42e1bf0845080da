import { assert, it } from "@effect/vitest"
import type { CommandDescriptor } from "effect/cli/Completions"
import { allCommands } from "../../src/cli/commands.ts"
import { commandIn, withGivenFlags } from "../../src/console/given-flags.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const leaves = (
  command: CommandDescriptor,
  path = ""
): ReadonlyArray<{ readonly path: string; readonly command: CommandDescriptor }> =>
  command.subcommands.length === 0
    ? [{ path, command }]
    : command.subcommands.flatMap((one) => leaves(one, `${path} ${one.name}`))
const all = leaves(allCommands())

it("a suggested command repeats --output and --config exactly if it takes them, in every form of a sentence", () => {
  const repeat = withGivenFlags(["sync", "--output", "/x y", "--config=c.toml"], allCommands)
  for (const { command, path } of all) {
    const takes = (flag: string) => command.flags.some(({ name }) => name === flag)
    const flags = (takes("config") ? " --config c.toml" : "") + (takes("output") ? " --output '/x y'" : "")
    assert.strictEqual(repeat(`./sluice${path}`), `./sluice${path}${flags}`)
    assert.strictEqual(repeat(`see \`./sluice${path}\`.`), `see \`./sluice${path}${flags}\`.`)
    assert.strictEqual(repeat(`./sluice${path} --apply; done`), `./sluice${path}${flags} --apply; done`)
    assert.strictEqual(repeat(`./sluice${path} Abc12 --apply`), `./sluice${path}${flags} Abc12 --apply`)
    if (takes("output")) assert.notInclude(repeat(`./sluice${path} --output other`), "/x y")
  }
  assert.isAbove(all.filter(({ command }) => command.flags.some(({ name }) => name === "output")).length, 25)
  assert.strictEqual(
    repeat("./sluice sync, then ./sluice status"),
    "./sluice sync --config c.toml --output '/x y', then ./sluice status --config c.toml --output '/x y'"
  )
  assert.strictEqual(repeat("./sluice nonsense"), "./sluice nonsense")
})

it.each(["prune", "location remove one"])("the next step of %s is in its own folder", async (command) => {
  const output = newFolder()
  const { stderr } = await sluice([...command.split(" "), "--output", output], {})
  assert.include(stderr, `Next: ./sluice sync --output ${output}`)
})

it("the name of a command is the words that name it, and not the value of a flag", () => {
  for (const [args, path] of [
    ["prune --apply", "prune"],
    ["subject erase --contact sync", "subject erase"],
    ["status --location sync", "status"],
    ["location remove sync --apply", "location remove"]
  ] as const)
    assert.strictEqual(commandIn(args.split(" "), allCommands()).path.join(" "), path)
})
