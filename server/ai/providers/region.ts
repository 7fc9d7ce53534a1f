/** Regions of data residency (interface rule 50 §5.1), by what cloud regions begin with; the first that fits. */
const REGIONS: readonly (readonly [prefix: string, region: string])[] = [
  // AWS
  ['eu-west-2', 'uk'],
  ['eu-central-2', 'ch'],
  ['us-', 'us'],
  ['eu-', 'eu'],
  ['ca-', 'ca'],
  ['ap-southeast-2', 'au'],
  ['ap-southeast-4', 'au'],
  ['ap-northeast-1', 'jp'],
  ['ap-northeast-3', 'jp'],
  ['ap-south-1', 'in'],
  ['ap-south-2', 'in'],
  // Google Cloud
  ['europe-west2', 'uk'],
  ['europe-west6', 'ch'],
  ['europe-', 'eu'],
  ['northamerica-northeast', 'ca'],
  ['australia-', 'au'],
  ['asia-northeast1', 'jp'],
  ['asia-northeast2', 'jp'],
  ['asia-south', 'in'],
  // Azure
  ['uksouth', 'uk'],
  ['ukwest', 'uk'],
  ['canadacentral', 'ca'],
  ['canadaeast', 'ca'],
  ['australia', 'au'],
  ['japan', 'jp'],
  ['centralindia', 'in'],
  ['southindia', 'in'],
  ['westindia', 'in'],
  ['westeurope', 'eu'],
  ['northeurope', 'eu'],
  ['francecentral', 'eu'],
  ['germanywestcentral', 'eu'],
  ['swedencentral', 'eu'],
  ['italynorth', 'eu'],
  ['polandcentral', 'eu'],
  ['spaincentral', 'eu'],
  ['eastus', 'us'],
  ['westus', 'us'],
  ['centralus', 'us'],
  ['northcentralus', 'us'],
  ['southcentralus', 'us'],
];

// Hosts that name the region in which they process what they get.
const BEDROCK = /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.com|amazonaws\.com\.cn|api\.aws)$/;
const BEDROCK_VPC = /^vpce-[a-z0-9-]+\.bedrock-runtime\.([a-z0-9-]+)\.vpce\.amazonaws\.com$/;
/** `p.googleapis.com`: an endpoint of Private Service Connect. */
const VERTEX = /^([a-z]+(?:-[a-z]+\d+)?)-aiplatform(?:-[a-z0-9-]{1,63}\.p)?\.googleapis\.com$/;
const VERTEX_REGIONAL = /^aiplatform\.([a-z0-9-]+)\.rep\.googleapis\.com$/;
const HOSTS: readonly RegExp[] = [BEDROCK, BEDROCK_VPC, VERTEX, VERTEX_REGIONAL, /^([a-z0-9-]+)\.api\.cognitive\.microsoft\.com$/];

/** The AWS region in the name of a host of Bedrock, also of a VPC endpoint: what calls are signed for. */
export const bedrockRegion = (host: string): string | undefined => (BEDROCK.exec(host) ?? BEDROCK_VPC.exec(host))?.[1];

/** The location that a host of Vertex AI names. */
export const vertexLocation = (host: string): string => (VERTEX.exec(host) ?? VERTEX_REGIONAL.exec(host))?.[1] ?? 'global';

const NAMED: Readonly<Record<string, string>> = { 'eu.api.openai.com': 'eu', 'us.api.openai.com': 'us' };

/** The region in which a provider's host processes what it gets; undefined when its name doesn't say. */
export function regionOf(host: string): string | undefined {
  const named = NAMED[host];
  if (named !== undefined) return named;
  for (const pattern of HOSTS) {
    const cloud = pattern.exec(host)?.[1];
    if (cloud !== undefined) return REGIONS.find(([prefix]) => cloud.startsWith(prefix))?.[1];
  }
  return undefined;
}
