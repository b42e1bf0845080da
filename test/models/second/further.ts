/** The models of further lists: calls of assistants, documents and what became of campaigns, from the records of the service. */
import { type Expected, type Place, at, codeOf, isOneOf, timesOf } from "./place.ts"
import { countsAs } from "./states.ts"
import { type Sent, cameAt } from "./world.ts"

const voiceCall = ({ list, location, world, zone }: Place): ReadonlyArray<Expected> =>
  list("voice_calls").map((sent) => ({
    voice_call_id: sent.id,
    contact_id: sent.contactId,
    voice_agent_id: sent.agentId,
    agent_name: list("voice_agents").find(({ id }) => id === sent.agentId)?.agentName,
    message_id: sent.messageId,
    is_trial: sent.trialCall === true,
    duration: sent.duration,
    ...timesOf("called", sent.createdAt, zone),
    _synced_at: cameAt(world, "voice_calls", location, sent.id)
  }))

/** Of a list of statuses, the last one counts. */
export const statusOf = ({ status }: Sent): string | undefined => [status].flat().at(-1)

const document = ({ list, location, world, zone }: Place): ReadonlyArray<Expected> =>
  list("documents")
    .filter(({ deleted }) => deleted !== true)
    .map((sent) => {
      const state = countsAs("document", statusOf(sent))
      const dates = sent.recipients.flatMap(({ signedDate }: Sent) => signedDate ?? []) as ReadonlyArray<string>
      return {
        document_id: sent._id,
        document_type: sent.type,
        document_status: statusOf(sent),
        counts_as: state,
        is_signed: isOneOf(state, "signed"),
        is_expired: sent.isExpired === true,
        payment_status: sent.paymentStatus,
        currency: codeOf(sent.grandTotal.currency),
        amount: sent.grandTotal.amount,
        ...timesOf("signed", state === "signed" ? dates.toSorted().at(-1) : undefined, zone),
        ...timesOf("created", sent.createdAt, zone),
        updated_at: at(sent.updatedAt),
        _synced_at: cameAt(world, "documents", location, sent._id)
      }
    })

const funnel = ({ list, location, world }: Place): ReadonlyArray<Expected> =>
  [
    ["email_campaign", "email_campaign"],
    ["workflow", "workflow_campaign"],
    ["bulk_action", "bulk_email_campaign"]
  ].flatMap(([campaign_kind, name]) =>
    list(`${name}_statistics`).map(({ sourceId, stats }) => ({
      campaign_kind,
      source_id: sourceId,
      campaign_name: list(`${name}s`)
        .flatMap((one) => (one.sourceId === sourceId && one.deleted !== true && one.name) || [])
        .toSorted()
        .at(-1),
      sent: stats.sent,
      delivered: stats.delivered,
      opened: stats.opened,
      clicked: stats.clicked,
      replied: stats.replied,
      unsubscribed: stats.unsubscribed,
      complained: stats.complained,
      bounced:
        stats.permanentFail === undefined || stats.temporaryFail === undefined
          ? undefined
          : stats.permanentFail + stats.temporaryFail,
      _synced_at: cameAt(world, `${name}_statistics`, location, sourceId)
    }))
  )

export const furtherModels = { fct_voice_call: voiceCall, fct_document: document, fct_campaign_funnel: funnel }
