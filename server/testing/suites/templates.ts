import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { perform } from '#server/api/perform.ts';
import { secretNamed } from '#server/domain/secrets/samples.fixture.ts';
import { mapTexts, textsIn } from '#server/domain/templates/texts.shared.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { fresh, type Sample } from '../factories.ts';
import { confirm } from '../step-up.ts';
import { type Workspace, workspace } from '../workspace.ts';
import type { Subject } from './subject.ts';

/**
 * Fields that take any text and fill no placeholder in it, by what they are. A field that isn't here and takes the placeholder of a secret must list it
 * among the uses of the secret, and refuse it to whoever may not use secrets.
 */
const PLAIN: readonly { of?: RegExp; path: RegExp; what: string }[] = [
  { path: /^(?:workflow\.)?(?:name|display_name|description|label|reason|text)$/, what: 'words for people' },
  { path: /^(?:client_id|client_secret|token|signing_secret)$/, what: 'a credential, sent as it is' },
  {
    of: /^(?:secrets|wrap|dyn_db|migrations|import|collections)\./,
    path: /^(?:(?:secrets\[0\]\.)?value|content|certificate_content|private_key|admin_username|admin_password|file_name|routes\[0\]\.name|\{name\})$/,
    what: 'a value: it is put in once and never read as a template',
  },
  {
    of: /^(?:trust_bindings|ai_oidc_bindings|ai_controls|ai_spend|migrations|vaults)\./,
    path: /^(?:subject|claim_rules\[0\]\.value|heuristics\[0\]\.(?:name|pattern)|pattern|patterns\[0\]\.pattern|external_id|team|model|match_secret_ref|match_path_prefix|tokens\[0\]|metadata\{name\})$/,
    what: 'compared with what comes, or kept for people',
  },
  { of: /^wrap\./, path: /^provider$/, what: 'the name of a provider, for people' },
  {
    of: /^wrap\.test_call$/,
    path: /^url$/,
    what: 'one call of the ephemeral proxy that nothing keeps: the row itself asks for the right to use secrets',
  },
  { of: /^pki\./, path: /^(?:subject\.CN|subject\.O|csr_pem)$/, what: 'what a certificate says' },
  {
    of: /^mcp_servers\.tools\./,
    path: /^(?:tool_name|document[^ ]*)$/,
    what: 'names and descriptions of tools: calls put in their arguments and no secret',
  },
  {
    of: /^routes\.examples\./,
    path: /^(?:path|body)$/,
    what: 'a saved call: it is sent as a caller sends it, so body_placeholders of the route decide each time',
  },
  { of: /^tenant_keys\./, path: /^\{name\}$/, what: 'members that only the search for static credentials looks at, and nothing keeps' },
  {
    of: /^workflows\./,
    path: /^input(?:\.name|\{name\})$/,
    what: 'the input of a run: what a reference brings in is never read as a template',
  },
  {
    of: /^workflows\./,
    path: /^(?:workflow\.)?definition(?:\.nodes\[\d+\](?:\.(?:type|name|data))?|\.edges\[\d+\](?:\.(?:id|source|target))?)?(?:\{name\})?$/,
    what: 'the graph of a workflow: only the config of a node is filled',
  },
];

/** No placeholder of a secret is filled anywhere that wasn't checked and listed: in any text or name of a member of the operation's sample. */
export function templates({ operations, fixture, caller }: Subject): void {
  const writing = operations.filter(({ id, kind }) => (kind === 'change' || kind === 'mint') && fixture.samples[id]);
  if (writing.length === 0) return;
  describe('a placeholder of a secret is refused, is plain text, or is listed and asks for the right to use the secret', () => {
    for (const op of writing)
      test(op.id, async () => {
        const sample = fixture.templated?.[op.id] ?? (fixture.samples[op.id] as Sample);
        const { problems, listed } = await templateProblems(op, (w) => caller(op, w), sample);
        assert.deepEqual(problems, []);
        if (fixture.templated?.[op.id]) assert.ok(listed > 0, 'the sample has a template');
      });
  });
}

/** What is wrong with the templates of an operation, and how many places list the secret. */
export async function templateProblems(
  op: AnyOperation,
  caller: (w: Workspace) => Ctx,
  sample: Sample,
): Promise<{ problems: string[]; listed: number }> {
  const problems: string[] = [];
  let listed = 0;
  let setting = await settle(caller);
  /** In another workspace once this one is full. */
  const inputNow = async (): Promise<Input> => {
    try {
      return await sample(setting.ctx);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setting = await settle(caller);
      return sample(setting.ctx);
    }
  };
  for (const place of placesIn(await inputNow()))
    for (const by of ['name', 'id'] as const) {
      const given = await inputNow();
      const { ctx, without, secret } = setting;
      const placeholder = by === 'name' ? `{{secret:${secret.name}}}` : `{{secret_id:${secret.id}}}`;
      const input = place.with(given, placeholder);
      const parsed = op.input.safeParse(input);
      // Refused, or a member that nobody reads.
      if (!parsed.success || !JSON.stringify(parsed.data)?.includes(placeholder)) continue;
      const before = await uses(secret.id);
      if (!(await accepted(op, ctx, input))) continue;
      if ((await uses(secret.id)) === before) {
        if (!PLAIN.some(({ of, path }) => (of?.test(op.id) ?? true) && path.test(place.path)))
          problems.push(`${place.path} takes ${placeholder} and neither lists nor refuses it`);
        continue;
      }
      listed++;
      if (await accepted(op, without, place.with(await sample(ctx), placeholder)))
        problems.push(`${place.path} takes ${placeholder} of who may not read secrets`);
    }
  return { problems, listed };
}

/** A workspace with a secret, and a caller who may do everything there beside the same one who may not read secrets. */
async function settle(caller: (w: Workspace) => Ctx) {
  const w = await workspace();
  const ctx = caller(w);
  const name = fresh('TEMPLATE').replaceAll('-', '_');
  const id = await secretNamed(w.ctx(ctx.sandbox ? 'test' : 'live'), name, 'canary-of-a-template');
  const capabilities = ctx.actor.capabilities.difference(new Set(['secret:read']));
  return { ctx, without: { ...ctx, actor: { ...ctx.actor, capabilities } as Ctx['actor'] }, secret: { id, name } };
}

const uses = (secret_id: string) => db().secret_references.count({ where: { secret_id } });

async function accepted(op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<boolean> {
  try {
    await confirm(op, ctx, input);
    await perform(op, { ...ctx, warnings: [] }, input);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

type Input = Record<string, unknown>;
type Place = { path: string; with: (input: Input, placeholder: string) => Input };

/** Every text of an input, where the placeholder is appended, and every object, which gets a member of that name. */
function placesIn(sample: Input): Place[] {
  const values = textsIn(sample).flatMap(({ path, place }): Place[] =>
    place === 'name'
      ? []
      : [{ path, with: (input, more) => mapTexts(input, (one) => (one.path === path ? one.text + more : one.text)) as Input }],
  );
  const names = objectsIn(sample).map(
    (path): Place => ({ path: `${path}{name}`, with: (input, name) => withMember(input, path, name) as Input }),
  );
  return [...values, ...names];
}

function objectsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => objectsIn(item, `${path}[${i}]`));
  if (typeof value !== 'object' || value === null) return [];
  return [path, ...Object.entries(value).flatMap(([name, item]) => objectsIn(item, path === '' ? name : `${path}.${name}`))];
}

function withMember(value: unknown, at: string, member: string, path = ''): unknown {
  if (Array.isArray(value)) return value.map((item, i) => withMember(item, at, member, `${path}[${i}]`));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, withMember(item, at, member, path === '' ? name : `${path}.${name}`)]);
  return Object.fromEntries(path === at ? [...entries, [member, 'x']] : entries);
}
