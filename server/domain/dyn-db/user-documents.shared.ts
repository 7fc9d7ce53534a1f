/** What a role of MongoDB is created with: the arguments of createUser without its name and password (interface rule 44 §4.3). */
export type UserDocument = {
  roles: (string | { role: string; db: string })[];
  mechanisms?: ('SCRAM-SHA-1' | 'SCRAM-SHA-256')[];
  authenticationRestrictions?: { clientSource?: string[]; serverAddress?: string[] }[];
  customData?: Record<string, unknown>;
};

const KEYS = ['roles', 'mechanisms', 'authenticationRestrictions', 'customData'];
const MECHANISMS = ['SCRAM-SHA-1', 'SCRAM-SHA-256'];
const MAX_DEPTH = 16;

/** What is wrong with such a document, as a sentence without subject and period; null if nothing is. */
export function userDocumentProblem(text: string): string | null {
  const value = parsed(text);
  if (!isObject(value)) return 'must be a JSON object';
  if (tooDeep(value, MAX_DEPTH)) return `must not be nested more than ${MAX_DEPTH} deep`;
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `contains the unknown key ${JSON.stringify(unknown.slice(0, 40))}; allowed are ${KEYS.join(', ')}`;
  if (JSON.stringify(value).includes('{{password}}'))
    return "can't contain {{password}}: the service sets it, and documents of users can be read";
  if (!Array.isArray(value.roles) || !value.roles.every(isRole)) return 'must have roles, an array of names or of {"role", "db"}';
  if (value.mechanisms !== undefined && !isListOf(value.mechanisms, (each) => MECHANISMS.includes(each as string), 1))
    return `must have mechanisms of ${MECHANISMS.join(' and ')}`;
  if (value.authenticationRestrictions !== undefined && !isListOf(value.authenticationRestrictions, isRestriction))
    return 'must have authenticationRestrictions of {"clientSource", "serverAddress"}, arrays of addresses';
  if (value.customData !== undefined && !isObject(value.customData)) return 'must have an object as customData';
  return null;
}

/** The document with `fill` applied to each text of it, keys included. Throws for one that `userDocumentProblem` refuses. */
export function renderUserDocument(text: string, fill: (text: string) => string): UserDocument {
  const problem = userDocumentProblem(text);
  if (problem) throw new Error(`The document ${problem}.`);
  return filled(parsed(text), fill) as UserDocument;
}

function filled(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((each) => filled(each, fill));
  // Object.fromEntries defines own keys, __proto__ too.
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [fill(key), filled(each, fill)]));
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isListOf = (value: unknown, holds: (each: unknown) => boolean, least = 0): boolean =>
  Array.isArray(value) && value.length >= least && value.every(holds);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const hasOnly = (value: Record<string, unknown>, keys: readonly string[]) => Object.keys(value).every((key) => keys.includes(key));

const isRole = (value: unknown): boolean =>
  isText(value) || (isObject(value) && hasOnly(value, ['role', 'db']) && isText(value.role) && isText(value.db));

const isRestriction = (value: unknown): boolean =>
  isObject(value) &&
  hasOnly(value, ['clientSource', 'serverAddress']) &&
  Object.values(value).every((addresses) => isListOf(addresses, isText, 1));

/** Walks a list instead of calling itself, so that no document exhausts the stack. */
function tooDeep(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
