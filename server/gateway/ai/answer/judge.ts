import type { Adapter, FinishReason } from '#server/ai/shapes/adapter.ts';
import type { AnswerView } from '../../governance/controls/call-controls.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';

/** Says that the answer doesn't fit the output schema, and that the provider may be asked once more with what is wrong. */
export const ASK_AGAIN = Symbol('ask again');
export type Judged = AiRefused | typeof ASK_AGAIN | undefined;

const VALIDATED: ReadonlySet<string> = new Set(['chat', 'messages', 'responses', 'generate']);

/**
 * Judges an assistant's text by the agent's output schema (interface rule 51 §6.6). With `retry` the first text that doesn't fit is answered with a correction,
 * which becomes part of the request; a second is refused.
 */
export function schemaJudge(call: AiCall): (text: string) => AiRefused | undefined {
  const { agent, controls, adapter, body } = call.state;
  return (text) => {
    if (!agent || !controls || agent.output_schema === null || !VALIDATED.has(detectedOf(call).operation)) return undefined;
    const faults = controls.schemaFaults(text);
    if (faults.length === 0) return undefined;
    if (agent.output_validation_action === 'warn') {
      if (!call.state.warnings.includes('output_schema')) call.state.warnings.push('output_schema');
      return undefined;
    }
    const places = faults.map(({ path, keyword }) => `${path || '/'} (${keyword})`).join(', ');
    if (agent.output_validation_action === 'retry' && !call.state.corrected && adapter && body) {
      call.state.corrected = true;
      adapter.appendTurn(
        body,
        text,
        `The answer does not match the required JSON schema at: ${places}. Answer again, with JSON that matches it and nothing else.`,
      );
      return WANTS_ANOTHER;
    }
    return aiRefusal('output_schema_violation', `The answer does not match the output schema of this agent at ${places}.`, {
      extra: { errors: faults.slice(0, 5).map(({ path, keyword }) => ({ path, keyword })) },
    });
  };
}

/** Never sent: it stands for ASK_AGAIN on its way through the controls. */
const WANTS_ANOTHER = aiRefusal('output_schema_violation', 'The answer is asked for once more.');

export const judged = (refusal: AiRefused | undefined): Judged => (refusal === WANTS_ANOTHER ? ASK_AGAIN : refusal);

/** All controls over a whole answer, which is changed in place. `changed` says whether it was. */
export async function judgeWhole(call: AiCall, theirs: Adapter, answer: unknown): Promise<{ verdict: Judged; changed: boolean }> {
  const { agent, controls } = call.state;
  const allowed = agent?.allowedTools ?? null;
  const blocked = allowed === null ? [] : theirs.blockTools(answer, (name) => allowed.has(name));
  if (controls === null) return { verdict: undefined, changed: blocked.length > 0 };
  const before = textOf(theirs, answer);
  const view = { texts: () => theirs.answerTexts(answer), text: () => theirs.answerText(answer) };
  const verdict = await judgeView(call, view, theirs.finish(answer));
  return { verdict, changed: blocked.length > 0 || textOf(theirs, answer) !== before };
}

/** The same over an answer that was read elsewhere. */
export async function judgeView(call: AiCall, answer: AnswerView, finish: FinishReason | undefined): Promise<Judged> {
  // What calls tools isn't the final answer yet.
  const judge = finish === 'tool_calls' ? undefined : schemaJudge(call);
  return judged(await call.state.controls?.answer(answer, judge));
}

const textOf = (theirs: Adapter, answer: unknown): string =>
  theirs
    .answerTexts(answer)
    .map(({ text }) => text)
    .join('\n');
