import { iso } from "../../account/clock.ts"
import { type Data, without } from "../../account/collection.ts"
import { type Make, further, idAt, times } from "./parts.ts"

const names = ["Berth reminder", "Spring letter", "=Offer", "Erinnerung – Termin", "Thanks, and see you"]
const bulkStatuses = ["complete", "scheduled", "complete", "paused", "cancelled"]
const sender = { fromName: "Harbor & Pine", fromEmail: "office@example.com" }

/** The id of the statistics of a bulk action, which is not that of its campaign. */
const bulkSource = (index: number): string => `bulkSource${String(index).padStart(10, "0")}`

const withSender = ({ emailMetadata, ...data }: Data): Data => ({
  ...data,
  ...sender,
  subject: (emailMetadata as Data)["subject"],
  replyToAddress: "answers@example.com",
  previewText: "In two sentences",
  editorType: "html",
  isPlainText: false
})

export const furtherEmailCollections: Record<"workflowCampaigns" | "bulkEmailCampaigns" | "emailStatistics", Make> = {
  workflowCampaigns: further(
    20,
    4,
    (draw, { of }) => ({
      id: draw.id,
      name: names[draw.index],
      status: draw.index === 2 ? "draft" : "published",
      source: "workflow",
      sourceId: idAt(of("workflows"), draw.index),
      deleted: false,
      ...times(draw),
      subSources: ["First mail", "Second mail"].map((name, step) => ({
        id: `${draw.id}-${step}`,
        name,
        subject: `${name} about your garden`,
        ...sender,
        editorType: ["html", "text"][step],
        isPlainText: step === 1,
        createdAt: iso(draw.entry.created),
        updatedAt: iso(draw.entry.updated)
      }))
    }),
    { list: without("subSources") }
  ),
  bulkEmailCampaigns: further(
    21,
    ({ owners }) => owners.share(0.02, 5),
    (draw) => ({
      id: draw.id,
      name: `${names[draw.index % names.length]} ${draw.index}`,
      status: bulkStatuses[draw.index % 5],
      scheduleType: ["NOW", "SCHEDULED", "DRIP"][draw.index % 3],
      source: "bulk",
      sourceId: bulkSource(draw.index),
      deleted: false,
      ...times(draw),
      ...(draw.index % 5 === 0 && { completedAt: iso(draw.entry.updated) }),
      emailMetadata: {
        subject: "The garden in spring",
        from: `${sender.fromName} <${sender.fromEmail}>`,
        name: sender.fromName,
        templateId: `template${draw.index}`
      }
    }),
    { full: withSender, list: (data) => data }
  ),
  emailStatistics: further(
    22,
    ({ of }) => of("bulkEmailCampaigns").size + 3,
    ({ id, index, random }, { context, of }) => {
      const delivered = random.between(20, 400)
      const opened = random.int(delivered)
      return {
        id,
        locationId: context.locationId,
        source: index < 3 ? "workflow-campaigns" : "bulk-actions",
        sourceId: index < 3 ? idAt(of("workflows"), index) : bulkSource(index - 3),
        stats: {
          sent: delivered + 10,
          accepted: 2,
          delivered,
          opened,
          clicked: random.int(opened + 1),
          unsubscribed: 1,
          complained: 0,
          permanentFail: 6,
          temporaryFail: 2,
          rejected: 0,
          failed: 0,
          replied: 3,
          openRate: Math.round((opened / delivered) * 10_000) / 100,
          clickRate: 7.75,
          unsubscribeRate: 0.75,
          complaintRate: 0,
          bounceRate: 1.95,
          replyRate: 2.25
        }
      }
    }
  )
}
