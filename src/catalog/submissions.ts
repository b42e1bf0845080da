/** The submissions of forms and of surveys: two tables that differ only in names. */
import {
  created,
  customValue,
  email,
  id,
  identifier,
  instant,
  json,
  map,
  object,
  personName,
  ref,
  text,
  url
} from "./fields.ts"
import { cursorOr, get, location, size, windowEnd, windowStart } from "./request.ts"
import { byDayMade, pageNumbers } from "./resource.ts"
import type { Strategy, Windows } from "./strategy.ts"

export const submissionsOf = (of: "form" | "survey") => {
  // Without dates, the service returns only the last month, so every request has them.
  const within = (windows: Windows): Strategy => ({
    request: get(`/${of}s/submissions`, {
      locationId: location,
      limit: size,
      page: cursorOr(1),
      startAt: windowStart("date"),
      endAt: windowEnd("date")
    }),
    paging: { kind: "pageNumber", first: 1 },
    records: "submissions",
    beside: pageNumbers,
    pageSize: 100,
    total: "meta.total",
    windows
  })
  const recent = within({ from: "since" })
  return {
    full: [within({ from: "2000-01-01" })],
    backfill: byDayMade(recent),
    changes: { field: "createdAt", events: [of], overlap: "3 days", strategies: [recent] },
    wide: { table: `${of}_submission_answers`, field: "field", prefix: "answer_" },
    person: { contacts: ["contact_id"] },
    fields: {
      id: id("Submission id"),
      [`${of}Id`]: ref(`${of}s`, `The ${of}`),
      contactId: ref("contacts", "Who filled it in"),
      name: personName("Name typed in"),
      email: email("Address typed in"),
      createdAt: created("When it was sent"),
      external: json("Set where it came through another site", { personal: "direct" }),
      // Each answer is a row of the child table.
      others: object(
        { eventData, fieldsOriSequance: json(`Order of the fields on the ${of}`, { column: "field_order" }) },
        {
          rest: map(
            `${of}_submission_answers`,
            "Answers of each submission.",
            { name: "field", field: text("Field key, or the id of custom_fields") },
            { value: customValue("The answer as sent") }
          )
        }
      )
    }
  } as const
}

/** Page, referrer and campaign of the submission of a form or survey. */
const eventData = object(
  {
    type: text("Kind of event", { column: "event_type" }),
    page: object({
      url: url("Page the form was on", { column: "event_page_url" }),
      title: text("Title of that page", { column: "event_page_title" })
    }),
    domain: text("Domain of that page", { column: "event_domain" }),
    medium: text("What was filled in, for example `form`", { column: "event_medium" }),
    source: text("Kind of traffic, for example `Paid Search`", { column: "event_source" }),
    referrer: url("Page visited before", { column: "event_referrer" }),
    pageVisitType: text("Kind of visit", { column: "event_page_visit_type" }),
    adSource: text("Where the advertisement was shown", { column: "event_ad_source" }),
    mediumId: identifier("Id of what was filled in", { column: "event_medium_id" }),
    parentId: identifier("Id of the page or site around it", { column: "event_parent_id" }),
    parentName: text("Name of the page or site around it", { column: "event_parent_name" }),
    timestamp: instant("When it was filled in, by the browser", { column: "event_timestamp" }),
    fbc: identifier("Cookie of the social network with the click", { column: "event_fbc", personal: "quasi" }),
    fbp: identifier("Cookie of the social network with the browser", { column: "event_fbp", personal: "quasi" }),
    fbEventId: identifier("Id of the event at the social network", { column: "event_fb_event_id", personal: "quasi" })
  },
  { whole: json("Page, referrer and campaign, as sent", { column: "event_data", personal: "quasi" }) }
)
