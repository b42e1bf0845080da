/** Repeats the flags that were given in the commands that messages suggest, so that they apply to the same output. */
import type { CommandDescriptor } from "effect/cli/Completions"

/** The flags that say which settings, output and account a command uses. */
const repeated = ["--config", "--output", "--base-url", "--location"]

/** As `repeating`, with what the arguments of a command say. */
export const withGivenFlags = (args: ReadonlyArray<string>, commands: () => CommandDescriptor) =>
  // The settings file that init writes contains its other flags.
  repeating(
    (args[0] === "init" ? ["--config"] : repeated).map((flag) => [flag, valueOf(flag, args)]),
    commands
  )

/** Adds flags to every `./sluice <command>` of a text that takes them. `commands`: the one that contains all. */
export const repeating = (
  flags: ReadonlyArray<readonly [flag: string, value: string | undefined]>,
  commands: () => CommandDescriptor
): ((text: string) => string) => {
  const given = flags.flatMap(([flag, value]) =>
    value === undefined ? [] : [{ flag, text: `${flag} ${shellText(value)}` }]
  )
  if (given.length === 0) return (text) => text
  return (text) =>
    text.replaceAll(
      /\.\/sluice((?: [a-z][\w-]*)+)((?:(?!\.\/sluice)[^`;,\n])*)/g,
      (suggested, words: string, rest: string) => {
        const { command, path } = commandIn(words.trim().split(" "), commands())
        if (path.length === 0) return suggested
        const start = ["./sluice", ...path].join(" ")
        const after = suggested.slice(start.length)
        const missing = given.filter(
          ({ flag }) => command.flags.some(({ name }) => `--${name}` === flag) && !`${rest} `.match(`${flag}[ =]`)
        )
        return [start, ...missing.map((one) => one.text)].join(" ") + after
      }
    )
}

/** The command that the first words name, with its path below `root`. */
export const commandIn = (words: ReadonlyArray<string>, root: CommandDescriptor) => {
  let command = root
  const path: Array<string> = []
  for (const word of words) {
    const found = command.subcommands.find(({ name }) => name === word)
    if (found === undefined) break
    command = found
    path.push(word)
  }
  return { command, path }
}

export const valueOf = (flag: string, args: ReadonlyArray<string>): string | undefined => {
  const index = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  return args[index] === flag ? args[index + 1] : args[index]?.slice(flag.length + 1)
}

/** As a POSIX shell reads it. */
export const shellText = (value: string): string =>
  /^[\w./:@%+,=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
