import type { Route } from "../http/route.ts"

/** The heading of an operation: the first words of its path, unless its family has a better name. */
export const familyOf = ({ path }: Route): string => {
  if (path.includes("/customFields")) return "Custom fields"
  const [, first = "", second = ""] = path.split("/")
  return names[`${first}/${second}`] ?? names[first] ?? `${first[0]!.toUpperCase()}${first.slice(1)}`
}

const names: Readonly<Record<string, string>> = {
  "custom-fields": "Custom fields",
  opportunities: "Opportunities and pipelines",
  calendars: "Calendars and appointments",
  conversations: "Conversations and messages",
  locations: "Locations",
  emails: "Email templates and campaigns",
  "social-media-posting": "Social posts",
  "payments/coupon": "Coupons",
  payments: "Payments"
}
