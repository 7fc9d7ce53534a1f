import { isObject, objectOf, textAt } from '../json.ts';
import { SERVICE_TIERS, type ServiceTier, type Usage } from './usage.ts';

/**
 * The processing tier that a request or an answer names: OpenAI and who speaks like it say `service_tier`, Gemini says it in either spelling and in the counts of
 * its answers, and Bedrock says `serviceTier.type`.
 */
export function namedTier(body: unknown): ServiceTier | undefined {
  const { service_tier, serviceTier, usageMetadata } = objectOf(body);
  const metadata = objectOf(usageMetadata);
  const names = [
    service_tier,
    isObject(serviceTier) ? textAt(serviceTier, 'type') : serviceTier,
    metadata.serviceTier,
    metadata.trafficType,
  ];
  for (const name of names) {
    // Vertex AI names the traffic, such as ON_DEMAND_PRIORITY.
    const word = typeof name === 'string' ? name.toLowerCase().replace(/^on_demand_/, '') : '';
    const tier = word === 'standard' || word === 'on_demand' ? 'default' : SERVICE_TIERS.find((one) => one === word);
    if (tier !== undefined) return tier;
  }
  return undefined;
}

/** The usage with the tier that the answer says it was processed in. */
export function withTier(usage: Usage | undefined, answer: unknown): Usage | undefined {
  const tier = namedTier(answer);
  return usage && tier ? { ...usage, tier } : usage;
}
