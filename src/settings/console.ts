/** The page of `./sluice serve`, and when it starts a sync. */
import { isTimeZone, timeOf } from "../values/time-of-day.ts"
import * as Schema from "effect/Schema"
import { type Kind, boolean, commaSeparated, httpAddress, setting, text, textList } from "../values/setting.ts"
import type { Section } from "../values/setting.ts"

const timesOfDay: Kind<ReadonlyArray<string>> = {
  expected: 'a list of times such as "03:30"',
  schema: Schema.Array(Schema.String.check(Schema.makeFilter((one) => timeOf(one) !== undefined))),
  fromText: commaSeparated,
  toValue: (times) => [...new Set(times)].toSorted()
}

const timeZone: Kind<string> = {
  ...text,
  expected: "the name of a time zone, such as Europe/Berlin",
  schema: Schema.String.check(Schema.makeFilter(isTimeZone))
}

/** The page has addresses of its own below the name. */
const origin: Kind<string> = {
  ...httpAddress,
  expected: "an http or https address without a path",
  schema: httpAddress.schema.check(
    Schema.makeFilter((address) => URL.canParse(address) && new URL(address).href === `${new URL(address).origin}/`)
  )
}

export const scheduleSection = {
  times: setting(timesOfDay, {
    description: "Local times at which ./sluice serve starts a sync each day. Without one, it starts none.",
    default: [],
    example: ["03:30"]
  }),
  time_zone: setting(timeZone, {
    description: "Time zone of these times; without it, the one of the machine.",
    example: "Europe/Berlin"
  }),
  paused: setting(boolean, {
    description: "Start no sync at these times. Those that pass meanwhile are left out.",
    default: false
  }),
  prune: setting(boolean, {
    description: "Run ./sluice prune --apply after the first sync of each day, with the periods of [prune].",
    default: false
  })
} satisfies Section

export const consoleSection = {
  password: setting(text, {
    environment: "SLUICE_CONSOLE_PASSWORD",
    secret: true,
    description:
      "Password of the page of ./sluice serve, or a reference to it. Only another address than 127.0.0.1 needs it.",
    example: "file:/run/secrets/console"
  }),
  readonly_password: setting(text, {
    environment: "SLUICE_CONSOLE_READONLY_PASSWORD",
    secret: true,
    description: "A second password, which shows everything and starts nothing.",
    example: "env:CONSOLE_READER"
  }),
  url: setting(origin, {
    environment: "SLUICE_CONSOLE_URL",
    description: "Address at which browsers reach the page, if it is another than that of the process.",
    example: "https://sluice.example.com"
  }),
  trusted_proxies: setting(textList, {
    description: "Addresses of proxies whose header X-Forwarded-For names the client.",
    default: [],
    example: ["127.0.0.1"]
  })
} satisfies Section
