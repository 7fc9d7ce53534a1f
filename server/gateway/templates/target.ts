import type { Reference } from '#server/domain/templates/grammar.ts';
import { type Refused, refused } from '../core/refusal.ts';
import type { Runtime } from '../core/runtime.ts';
import { fixedTarget } from '../snapshot/compile-route.ts';
import type { CallConfig, CompiledTemplate } from '../snapshot/model.ts';
import { renderText, type Values } from './render.ts';
import type { Resolution } from './resolution.ts';
import { resolve } from './resolve.ts';
import type { TemplateCall } from './template-call.ts';

export type FixedTarget = Extract<CallConfig['target'], { kind: 'fixed' }>;
type Result = Refused | undefined | Promise<Refused | undefined>;

/** Sets the target of a call; `path` is appended to the base path of a target that is fixed. */
export function setTarget(call: TemplateCall, { target, basePath, echo }: FixedTarget, path: string): void {
  call.upstream = target;
  call.echo = echo;
  call.upstreamPath = path === '' ? target.path || '/' : basePath + path;
}

/** The target of the route's configuration, with its variables filled in. */
export function chooseTarget(call: TemplateCall, runtime: Runtime, config: CallConfig, resolution: Resolution, path: string): Result {
  const { target } = config;
  if (target.kind === 'refused') return refused(target.code, target.message);
  if (target.kind === 'fixed') {
    setTarget(call, target, path);
    return undefined;
  }
  const references = target.template.parts.filter((part): part is Reference => part.kind !== 'literal');
  // A secret in a URL would show in logs, DNS and TLS names.
  const unfit = references.find((reference) => reference.kind !== 'var' || variableOf(call, reference)?.type !== 'value');
  if (unfit) return refused('template_invalid', 'The target URL of this route uses a variable that is missing or holds a secret.');
  const filled = () => {
    if (!staysInHost(target.template, resolution.configuration))
      return refused(
        'template_invalid',
        'A variable in the target host of this route contains characters other than letters, digits, dots, hyphens and underscores.',
      );
    const judged = fixedTarget(renderText(target.template, resolution.configuration), runtime.resolver.settings);
    if (judged.kind === 'fixed') {
      setTarget(call, judged, path);
      return undefined;
    }
    const code = judged.kind === 'refused' ? judged.code : 'template_invalid';
    return refused(code, 'The target URL of this route is invalid once its variables are filled in.');
  };
  const resolved = resolve(call, runtime, references, 'configuration', resolution);
  return resolved instanceof Promise ? resolved.then((refusal) => refusal ?? filled()) : (resolved ?? filled());
}

/**
 * Whether what stands in the authority is text of host labels (interface rule 12 §7). A value with a slash or a colon would end the host early, and
 * send the route's secrets to whoever may write variables but not routes.
 */
function staysInHost({ parts }: CompiledTemplate, values: Values): boolean {
  let before = '';
  for (const part of parts) {
    const text = part.kind === 'literal' ? part.text : (values.get(part) ?? '');
    if (part.kind !== 'literal' && !/^[^/]*\/\/[^/]*\//.test(before) && !/^[A-Za-z0-9_.-]+$/.test(text)) return false;
    before += text;
  }
  return true;
}

const variableOf = (call: TemplateCall, reference: Extract<Reference, { kind: 'var' }>) =>
  call.snapshot.variable(reference.collection, reference.key, call.state.route?.collectionId ?? null);

/** The workspace's own list of hosts, when it keeps one. */
export function egressAllowed(call: TemplateCall): Refused | undefined {
  const list = call.snapshot.tenant.settings.egress_allowlist;
  const host = call.upstream?.host ?? '';
  if (list === null || call.echo) return undefined;
  const allowed = list.some((entry) =>
    entry.startsWith('*.') ? host.indexOf('.') > 0 && host.slice(host.indexOf('.')) === entry.slice(1) : entry.toLowerCase() === host,
  );
  return allowed ? undefined : refused('egress_denied', `The host ${host} is not on this workspace's list of allowed hosts.`);
}
