import { companies } from "../../account/names.ts"
import { type Make, further, times } from "./parts.ts"

const reasons = [
  "Too expensive",
  "Chose somebody else",
  "No answer",
  "=Bad timing",
  "Kein Bedarf – später",
  "Moved away"
]
const countries = ["germany", "United States", "CANADA", "us"]

export const crmCollections: Record<"lostReasons" | "businesses", Make> = {
  lostReasons: further(
    10,
    reasons.length,
    (draw, { context }) => ({
      id: draw.id,
      name: reasons[draw.index],
      locationId: context.locationId,
      ...times(draw)
    }),
    { kind: (index) => (index >= 4 ? 1 : 0) }
  ),
  businesses: further(
    11,
    ({ owners }) => owners.share(0.06, 6),
    (draw, { context }) => {
      const { id, index, random } = draw
      return {
        id,
        name: `${random.pick(companies)} ${index + 1}`,
        ...(random.chance(0.7) && { phone: `+1212555${String(index).padStart(4, "0")}` }),
        ...(random.chance(0.7) && { email: `office${index}@example.com` }),
        ...(random.chance(0.5) && { website: `https://company${index}.example` }),
        ...(random.chance(0.6) && {
          address: `${index + 1} Quay Street`,
          city: "Port Sample",
          state: "OR",
          postalCode: "97201"
        }),
        country: random.pick(countries),
        ...(random.chance(0.3) && { description: "Prefers to be called, <b>not</b> written to" }),
        locationId: context.locationId,
        createdBy: { source: "WEB_USER", sourceId: context.userIds[0] },
        updatedBy: {},
        ...times(draw)
      }
    },
    { malform: { instants: "createdAt updatedAt", texts: "name city description" } }
  )
}
