import { textsIn } from '#server/domain/templates/texts.shared.ts';
import { configProblems, MOST_PROBLEMS } from './configs.shared.ts';
import {
  configOf,
  type Definition,
  graphOf,
  hardProblem,
  NODE_TYPES,
  type Problem,
  TRIGGER_NODE,
  type WorkflowNode,
} from './definition.shared.ts';
import { parseTemplate } from './expressions/template.shared.ts';
import { graphProblems, handlesOf, reached, type Structure, structureOf } from './structure.shared.ts';

/** What publishing must know of the space: absent for what isn't known here (a page), which then isn't judged. */
export type Surroundings = {
  sandbox: boolean;
  /** What routes are called by, and the names of the environments. */
  routes?: ReadonlySet<string>;
  environments?: ReadonlySet<string>;
  /** Whether texts to phones can be sent at all. */
  sms?: boolean;
};

const MOST_NODES = 100;
const MOST_EDGES = 300;
const MORE = `has more than the ${MOST_PROBLEMS} problems listed here: solve these first, then check it again`;

/**
 * What is wrong with a definition, errors before warnings (interface rule 62 §3.3). It may be live if none is an error: `isPublishable`. Pure; whether
 * secrets exist and may be used is asked elsewhere (`secretsNamed`).
 */
export function problemsOf(stored: unknown, around: Surroundings): Problem[] {
  const hard = hardProblem(stored);
  if (hard) return [{ node_id: null, severity: 'error', message: `definition${hard.path && `.${hard.path}`} ${hard.message}` }];
  const definition = graphOf(stored);
  // What is too large as it is isn't looked into: the work of the other checks grows with it.
  const size = sizeProblems(definition);
  if (size.length > 0) return [...triggerProblems(definition), ...size];
  const structure = structureOf(definition);
  const problems = [...triggerProblems(definition), ...graphProblems(definition, structure)];
  // Only errors end it: behind any number of warnings the one error must be found that keeps it from being live.
  let found = problems.length;
  for (const node of definition.nodes) {
    if (found >= MOST_PROBLEMS) break;
    const of = configProblems(node, structure, around);
    found += of.filter(isError).length;
    problems.push(...of);
  }
  problems.push(...graphWarnings(structure));
  const errors = problems.filter(isError);
  const all = [...errors, ...problems.filter(({ severity }) => severity === 'warning')];
  return all.length <= MOST_PROBLEMS
    ? all
    : [...all.slice(0, MOST_PROBLEMS), { node_id: null, severity: errors.length > 0 ? 'error' : 'warning', message: MORE }];
}

const isError = ({ severity }: Problem): boolean => severity === 'error';
export const isPublishable = (problems: readonly Problem[]): boolean => problems.every(({ severity }) => severity === 'warning');

/** The first error as the message of invalid_definition: `node "notify": method is required`. */
export function firstError(problems: readonly Problem[]): string | null {
  const error = problems.find(({ severity }) => severity === 'error');
  if (!error) return null;
  return error.node_id === null ? error.message : `node "${error.node_id}": ${error.message}`;
}

function triggerProblems({ nodes }: Definition): Problem[] {
  const triggers = nodes.filter(({ type }) => type === 'trigger');
  const [only] = triggers;
  const error = (node_id: string | null, message: string): Problem[] => [{ node_id, severity: 'error', message }];
  if (!only) return error(null, 'the definition needs a trigger');
  if (triggers.length > 1) return error(triggers[1]?.id ?? null, 'is a second trigger: there can be only one');
  return only.id === TRIGGER_NODE ? [] : error(only.id, `must have the id ${TRIGGER_NODE}: it is the trigger`);
}

function sizeProblems({ nodes, edges }: Definition): Problem[] {
  const error = (message: string): Problem[] => [{ node_id: null, severity: 'error', message }];
  return [
    ...(nodes.length > MOST_NODES ? error(`the definition can have at most ${MOST_NODES} nodes to be published`) : []),
    ...(edges.length > MOST_EDGES ? error(`the definition can have at most ${MOST_EDGES} edges to be published`) : []),
  ];
}

function graphWarnings({ nodes, from }: Structure): Problem[] {
  const begin = [...nodes.values()].filter(({ id, type }) => id === TRIGGER_NODE || type === 'error_handler').map(({ id }) => id);
  const reachable = reached(begin, from);
  const handled = [...nodes.values()].some(({ type }) => type === 'error_handler');
  const problems: Problem[] = [];
  const warn = (node_id: string, message: string) => problems.push({ node_id, severity: 'warning', message });
  for (const node of nodes.values()) {
    const leaves = new Set((from.get(node.id) ?? []).map(({ handle }) => handle));
    if (!reachable.has(node.id)) warn(node.id, 'is never reached');
    if (node.type === 'condition')
      for (const handle of handlesOf(node)) if (!leaves.has(handle)) warn(node.id, `nothing happens when it is ${handle}`);
    if (node.type === 'http_request' && !leaves.has('error') && !handled)
      warn(node.id, 'nothing handles its failure: the run fails with it');
  }
  return problems;
}

/** Only such a text is worth parsing for secrets. */
const NAMES_SECRET = /\{\{\s*secret/;

/** A secret that a definition names, with the node and the member that names it: `headers.Authorization`. */
export type NamedSecret = { node_id: string; field: string; by: 'name' | 'id'; secret: string };

/**
 * Every secret that a definition names, in the order of its nodes; what can't be read names none. Names of members count although they are never filled:
 * older definitions have such placeholders.
 */
export const secretsNamed = (stored: unknown): NamedSecret[] => graphOf(stored).nodes.flatMap(secretsOfNode);

export function secretsOfNode(node: WorkflowNode): NamedSecret[] {
  return textsIn(configOf(node)).flatMap(({ path, text }) => {
    if (!NAMES_SECRET.test(text)) return [];
    try {
      return parseTemplate(text).flatMap((part) =>
        part.kind === 'secret' ? [{ node_id: node.id, field: path, by: part.by, secret: part.secret }] : [],
      );
    } catch {
      return [];
    }
  });
}

export const isKnownType = (type: string): boolean => (NODE_TYPES as readonly string[]).includes(type);
