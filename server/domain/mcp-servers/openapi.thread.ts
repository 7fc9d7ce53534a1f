import { parseExact } from '#server/kernel/lossless-json.ts';
import { type Choice, NotOpenApi, type ToolDraft, toolsFromOpenApi } from '#server/mcp/openapi/tools.ts';
import { run as parsedYaml } from '#server/platform/yaml/yaml.thread.ts';

/** `input_schema` is JSON, because a number with digits of its own doesn't come through from a thread. */
export type DraftText = Omit<ToolDraft, 'input_schema'> & { input_schema: string };
export type Drafted = { drafts: { tools: DraftText[]; skipped: { operation: string; reason: string }[] } } | { problem: string };

/** The tools of a description in JSON or YAML, or in a sentence part what is wrong with it. */
export function run({ text, choice }: { text: string; choice: Choice }): Drafted {
  let document: unknown;
  try {
    document = parsed(text);
  } catch {
    return { problem: 'is neither valid JSON nor valid YAML' };
  }
  try {
    const { tools, skipped } = toolsFromOpenApi(document, choice);
    return { drafts: { tools: tools.map((tool) => ({ ...tool, input_schema: JSON.stringify(tool.input_schema) })), skipped } };
  } catch (error) {
    if (error instanceof NotOpenApi) return { problem: error.message };
    if (error instanceof RangeError) return { problem: 'is nested too deeply' };
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return parsedYaml(text);
  }
}
