import { refusedFallback } from '#server/ai/models/policy.ts';
import { estimateNano, pricesTier } from '#server/ai/prices/cost.ts';
import { countsImageTokens, mostForImage, pricesImages, pricesUse } from '#server/ai/prices/images.ts';
import type { Price } from '#server/ai/prices/price.ts';
import { estimatedInput, estimatedMedia, type Usage } from '#server/ai/usage/usage.ts';
import { price } from '#server/custody/ai/prices.ts';
import { PERIOD_NAMES } from '#server/domain/ai-spend/periods.shared.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { budgetCaps, tokenCaps } from '../../governance/ledger/caps.ts';
import { reserve } from '../../governance/ledger/ledger.ts';
import { limitSubjects } from '../../governance/ledger/limits.ts';
import type { Subject } from '../../governance/ledger/subjects.ts';
import { type FullLimit, type Refused as LedgerRefused, usd, utilization } from '../../governance/ledger/verdict.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { modelPolicy } from '../phases/choose-model.ts';
import { residency } from '../phases/judge-stream.ts';
import { homeProvider } from '../upstream/candidates.ts';
import { dearerTier, imagesOf, requestedTier, sentTo } from './sent.ts';
import { tagsOf } from './tags.ts';

/** What is taken for an answer whose length nothing limits. */
const USUAL_OUTPUT = 4_096;

/** Who pays for the call: token, agent and gateway, in the order in which the ledger locks them, and the limit policies that bind it. */
export function payersOf(call: AiCall): Subject[] {
  const { principal, backup, agent: own, gateway, model } = call.state;
  const agent = backup ?? own;
  if (!principal || !agent || !gateway) return [];
  const { token, user } = principal;
  const limited = { user: user?.externalId ?? null, team: user?.team ?? null, model: model?.final ?? null, tags: tagsOf(call) };
  return [
    { type: 'token', id: token.id, caps: tokenCaps(token.scope) },
    { type: 'agent', id: agent.id, caps: budgetCaps(agent, call.receivedAt) },
    { type: 'gateway', id: gateway.id, caps: budgetCaps(gateway, call.receivedAt) },
    ...limitSubjects(call.snapshot.aiLimits, limited),
  ];
}

/** The price of the call's model at its start; null when it has none. */
export const priceOf = (call: AiCall, provider: string, model: string): Price | null =>
  price(provider, model, call.receivedAt, call.snapshot.aiPrices);

/**
 * Step 14: reserves what the call may cost, or refuses it (interface rule 51 §9.4). With the overage action `fallback` another agent's route, model and budget
 * serve the call.
 */
export async function reserveBudget(call: AiCall): Promise<AiRefused | undefined> {
  const refused = await reserveFor(call);
  if (!refused || !('ledger' in refused) || refused.ledger.action !== 'fallback') return refused;
  return (useBackup(call) && (await reserveFor(call))) || (call.state.backup ? undefined : refused);
}

/** Points the call at the agent's fallback agent; false when there is none that could serve it. One hop, within one gateway. */
function useBackup(call: AiCall): boolean {
  const { state, snapshot } = call;
  const { agent, model, principal } = state;
  const other = agent?.fallback_agent_id ? snapshot.ai.agentsById.get(agent.fallback_agent_id) : undefined;
  if (!agent || !other || !model || other.status !== 'active' || other.gateway_id !== agent.gateway_id) return false;
  if (other.primary_route_id === null || other.default_model === null) return false;
  // All policies stay the first agent's and the token's: models, providers and the region of the data.
  const provider = other.provider ?? 'custom';
  const providers = principal?.token.scope.providers;
  if (providers && !providers.includes(provider)) return false;
  if (refusedFallback(modelPolicy(call), [other.default_model], provider)) return false;
  state.backup = other;
  if (residency(call, agent.data_residency_region)) {
    state.backup = null;
    return false;
  }
  state.fallback = 'agent';
  state.model = { requested: model.requested, final: other.default_model };
  return true;
}

async function reserveFor(call: AiCall): Promise<AiRefused | BudgetRefused | undefined> {
  const { state } = call;
  const { model } = state;
  const agent = state.backup ?? state.agent;
  if (!agent || state.reserved !== null) return undefined;
  const subjects = payersOf(call);
  const provider = homeProvider(call);
  const known = model === null ? null : priceOf(call, provider, model.final);
  const costs = model !== null && detectedOf(call).operation !== 'count_tokens';
  const unpriced = costs && model !== null ? judgeUnpriced(call, provider, model.final) : undefined;
  if (unpriced) return unpriced;
  const sent = sentTo(call);
  const prefix = Buffer.byteLength(state.agent?.enforced_system_prefix ?? '');
  const input = estimatedInput({ ...sent, textBytes: sent.textBytes + prefix });
  const output = mostOutput(call, known);
  const { makes } = sent;
  // Images whose size and quality have a price cost that; their tokens are counted for limits on tokens alone.
  const priced = known !== null && makes !== undefined && mostForImage(known, makes.kind) !== undefined;
  const written = priced ? makes.partial * makes.count * TOKENS_PER_PARTIAL : output;
  const found = await reserve({
    tenantId: call.snapshot.tenant.id,
    sandbox: call.snapshot.sandbox,
    requestId: call.requestId,
    subjects,
    estimateNano:
      known === null || !costs
        ? 0n
        : estimateNano(known, input, written, {
            ...estimatedMedia(sent),
            tier: dearerTier(requestedTier(call, provider, model?.final ?? '')),
          }),
    tokens: input + output,
    now: call.receivedAt,
  });
  if (!found.ok) return refusalOf(found);
  state.reserved = found;
  for (const warning of found.warnings) warn(call, warning);
  return undefined;
}

/**
 * What has no price counts nothing in budgets: a model, images of a size and quality, or what a tier costs more. While a budget in USD applies, its agent
 * refuses that or lets it through: then the answer, the log row and an alert say so. Asked for each provider that a call goes to.
 */
export function judgeUnpriced(call: AiCall, provider: string, model: string): AiRefused | undefined {
  const { state } = call;
  // What was said of a provider that failed isn't true of the next one.
  state.warnings = state.warnings.filter((warning) => !warning.startsWith('unpriced_'));
  const known = priceOf(call, provider, model);
  const tier = requestedTier(call, provider, model);
  const images = imagesOf(call);
  const unpriced = known === null || (images && !pricesImages(known, images.kind)) ? 'model' : pricesTier(known, tier) ? undefined : 'tier';
  if (unpriced === undefined || !payersOf(call).some(isInUsd)) return undefined;
  // A tier that is cheaper than the standard one passes no budget.
  if ((state.backup ?? state.agent)?.unpriced_action === 'block' && (unpriced === 'model' || tier === 'priority'))
    return aiRefusal('price_unavailable', known === null ? NO_PRICE.model : unpriced === 'model' ? NO_PRICE.images : NO_PRICE.tier);
  noteUnpriced(call, unpriced);
  return undefined;
}

const NO_PRICE = {
  model:
    'The model has no price, and this agent refuses models without one while a budget applies. Set a price of the model, or let the agent call models without one.',
  images:
    'The model has no price for images of this size and quality, and this agent refuses what has none while a budget applies. Ask for a size and quality that has one, set `image_prices` of the model, or let the agent call models without a price.',
  tier: 'What the priority tier of this model costs is not known, and this agent refuses models without a price while a budget applies. Leave out `service_tier`, set `priority_surcharge` of the model, or let the agent call models without a price.',
};

/** Warns of what an attempt used without a price, which only its answer says. @returns whether it can't be charged */
export function noteUnpricedUse(call: AiCall, known: Price, usage: Usage): boolean {
  const charged = pricesUse(known, usage);
  if ((!charged || !pricesTier(known, usage.tier)) && payersOf(call).some(isInUsd)) noteUnpriced(call, charged ? 'tier' : 'model');
  return !charged;
}

function noteUnpriced({ state: { warnings } }: AiCall, what: 'model' | 'tier'): void {
  const warning = `unpriced_${what}`;
  if (!warnings.includes(warning)) warnings.push(warning);
}

/** The most output that the call can be charged with before its answer says; what no model can write isn't held back from others. */
export function mostOutput(call: AiCall, known: Price | null): number {
  const { adapter, body } = call.state;
  if (!hasOutput(call)) return 0;
  const makes = imagesOf(call);
  if (makes) return known && !countsImageTokens(known) ? 0 : makes.count * (TOKENS_PER_IMAGE + makes.partial * TOKENS_PER_PARTIAL);
  const asked = body && adapter ? adapter.maxTokens(body) : undefined;
  return Math.min(asked ?? Math.min(known?.maxOutputTokens ?? USUAL_OUTPUT, USUAL_OUTPUT), MOST_OUTPUT);
}

/** What a picture takes at the highest quality in one of the usual sizes, and an unfinished one that a stream shows before it. */
const TOKENS_PER_IMAGE = 7_100;
const TOKENS_PER_PARTIAL = 100;

/** 128 answers of the models that write the most. */
const MOST_OUTPUT = 128 * 131_072;

const isInUsd = (subject: Subject): boolean =>
  subject.type === 'policy' ? subject.metric === 'usd' : subject.caps.dailyNano !== null || subject.caps.monthlyNano !== null;

const hasOutput = (call: AiCall): boolean =>
  !['embeddings', 'count_tokens', 'moderations', 'rerank', 'models'].includes(detectedOf(call).operation);

export type BudgetRefused = AiRefused & { readonly ledger: LedgerRefused };
const refusalOf = (refused: LedgerRefused): BudgetRefused => ({
  ...aiRefusal(refused.code, refused.description, { extra: refused.extra, retryAfter: refused.retryAfter }),
  ledger: refused,
});

/** Served although a budget is used up: the headers say which. */
function warn({ state }: AiCall, limit: FullLimit): void {
  if (!state.warnings.includes('budget')) state.warnings.push('budget');
  if (limit.metric !== 'usd' || state.lines.includes('X-Svc-AI-Budget-Scope')) return;
  state.lines +=
    `X-Svc-AI-Budget-Scope: ${limit.scope}\r\nX-Svc-AI-Budget-Period: ${PERIOD_NAMES[limit.period]}\r\n` +
    `X-Svc-AI-Budget-Limit-Usd: ${usd(limit.limit)}\r\nX-Svc-AI-Budget-Spent-Usd: ${usd(limit.spent)}\r\n` +
    `X-Svc-AI-Budget-Utilization: ${utilization(limit)}\r\n`;
}
