import { iso } from "../../account/clock.ts"
import type { Data } from "../../account/collection.ts"
import { secretText } from "./seeded-documents.ts"
import { type Make, further, idAt } from "./parts.ts"

/** An action with access to a service of somebody else, in clear. */
const ownAction: Data = {
  actionType: "CUSTOM_ACTION",
  actionParameters: {
    triggerPrompt: "When a plot number is named",
    triggerMessage: "One moment",
    apiDetails: {
      url: "https://plots.example/state",
      method: "GET",
      authenticationRequired: true,
      authenticationValue: secretText,
      headers: [{ key: "x-key", value: secretText }]
    },
    selectedPaths: ["plot.state"]
  }
}
const summaries = ["Asks for a visit in July.", "=Wants to be called back", "Fragt nach dem Preis – zweimal."]

export const voiceCollections: Record<"voiceCalls" | "voiceAgents", Make> = {
  voiceCalls: further(
    40,
    ({ owners }) => owners.share(0.2, 10),
    (draw, { of, owners }) => {
      const { id, index, random } = draw
      const who = owners.of(240, index)
      return {
        id,
        ...(index % 5 !== 4 && { contactId: who.id }),
        // The assistant of some calls was removed.
        agentId: index % 7 === 6 ? "agentThatIsGone00001" : idAt(of("voiceAgents"), index),
        isAgentDeleted: index % 7 === 6,
        fromNumber: who.phone,
        createdAt: iso(draw.entry.created),
        duration: random.between(4, 900),
        trialCall: index % 9 === 8,
        summary: summaries[index % 3],
        transcript: "bot: Good morning.\nhuman: Is there a time left?",
        ...(index % 3 === 0 && { translation: { enabled: true, language: "en" } }),
        ...(index % 2 === 0 && { extractedData: { plot_size: "9 m", name: who.name } }),
        executedCallActions:
          index % 2 === 0
            ? [
                {
                  actionId: "ac1",
                  actionType: "SMS",
                  actionName: "Send the price list",
                  executedAt: iso(draw.entry.created)
                }
              ]
            : [{ actionName: "Look up the plot", ...ownAction, triggerReceivedAt: iso(draw.entry.created) }]
      }
    }
  ),
  voiceAgents: further(41, 3, ({ id, index }, { context }) => ({
    id,
    locationId: context.locationId,
    agentName: ["Night desk", "Reception", "=Test"][index],
    businessName: "Harbor & Pine",
    welcomeMessage: "Good evening.",
    agentPrompt: "Answer questions about gardens.",
    voiceId: "v-2",
    language: "en-US",
    patienceLevel: "medium",
    maxCallDuration: 300,
    sendUserIdleReminders: true,
    reminderAfterIdleTimeSeconds: 8,
    ...(index === 0 && { inboundNumber: "+12125550100" }),
    callEndWorkflowIds: index === 1 ? ["wf-1", "wf-2"] : [],
    sendPostCallNotificationTo: {
      admins: true,
      allUsers: false,
      specificUsers: [],
      customEmails: ["boss@example.com"]
    },
    agentWorkingHours: [{ dayOfTheWeek: 1, intervals: [{ startHour: 8, startMinute: 0, endHour: 17, endMinute: 0 }] }],
    timezone: "America/Los_Angeles",
    isAgentAsBackupDisabled: false,
    actions: index === 2 ? [] : [{ [index === 0 ? "id" : "_id"]: `${id}-1`, name: "Look up the plot", ...ownAction }]
  }))
}
