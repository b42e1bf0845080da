/** Repeats the flags that were given in the commands that messages suggest, so that they apply to the same output. */

/** The flags that say which settings, output and account a command uses, and the commands that take them. */
const repeated: Readonly<Record<string, RegExp>> = {
  "--config": /^(sync|plan|backfill|status|publish|rebuild|verify|doctor|config \w+)$/,
  "--output": /^(demo|sync|plan|backfill|status|publish|rebuild|verify|doctor|config \w+)$/,
  "--base-url": /^(sync|plan|backfill|verify|doctor|config \w+)$/,
  "--location": /^(sync|plan|backfill|status|verify|doctor|config \w+)$/
}

/** Adds the given flags to every `./sluice <command>` of a text that takes them. */
export const withGivenFlags = (args: ReadonlyArray<string>): ((text: string) => string) => {
  // The settings file that init writes contains its other flags.
  const flags = args[0] === "init" ? ["--config"] : Object.keys(repeated)
  const given = flags.flatMap((flag) => {
    const value = valueOf(flag, args)
    return value === undefined ? [] : [{ flag, text: `${flag} ${quoted(value)}` }]
  })
  if (given.length === 0) return (text) => text
  return (text) =>
    text.replaceAll(/(\.\/sluice (config \w+|\w+))( --[^`;,\n]*)?/g, (_, start: string, command: string, rest = "") => {
      const missing = given.filter(({ flag }) => repeated[flag]!.test(command) && !`${rest} `.includes(`${flag} `))
      return [start, ...missing.map((one) => one.text)].join(" ") + rest
    })
}

const valueOf = (flag: string, args: ReadonlyArray<string>): string | undefined => {
  const index = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  if (index < 0) return undefined
  return args[index] === flag ? args[index + 1] : args[index]!.slice(flag.length + 1)
}

/** As a shell reads it. */
const quoted = (value: string): string =>
  /^[\w./:@%+,=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
