import { bodyOf, parseJsonObject } from '#server/api/input.ts';
import { unstorable, unstorableField } from '#server/api/parse.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { SentOperation } from './patch/patch.ts';
import { badRequest, ScimProblem } from './problem.ts';
import type { ScimObject } from './schema/read.ts';

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const MOST_OPERATIONS = 100;

/** The JSON object of a POST, PUT or PATCH. @throws ScimProblem 413, 415, 400 invalidSyntax or invalidValue */
export async function objectOf(req: Request): Promise<ScimObject> {
  const type = req.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const encoding = req.headers.get('content-encoding');
  if (type !== 'application/scim+json' && type !== 'application/json')
    throw new ScimProblem(415, 'Send the body as application/scim+json or application/json.');
  if (encoding && encoding !== 'identity') throw new ScimProblem(415, "Compressed request bodies aren't supported.");
  let body: ScimObject;
  try {
    body = parseJsonObject(await bodyOf(req));
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    throw error.status === 413 ? new ScimProblem(413, error.message) : badRequest('invalidSyntax', error.message);
  }
  const field = unstorableField(body);
  if (field !== null) throw badRequest('invalidValue', unstorable(field));
  return body;
}

/** The operations of a PATCH. Each is judged when it is applied. @throws ScimProblem invalidSyntax */
export function operationsOf(body: ScimObject): readonly SentOperation[] {
  const { schemas } = body;
  if (!Array.isArray(schemas) || !schemas.includes(PATCH_SCHEMA))
    throw badRequest('invalidSyntax', `schemas must contain ${PATCH_SCHEMA}.`);
  // Members of the message have names like attributes, in any case.
  const [, operations] = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations') ?? [];
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MOST_OPERATIONS)
    throw badRequest('invalidSyntax', `Operations must be a list of 1 to ${MOST_OPERATIONS} operations.`);
  for (const one of operations)
    if (typeof one !== 'object' || one === null || Array.isArray(one))
      throw badRequest('invalidSyntax', 'Each operation must be an object.');
  return operations as SentOperation[];
}
