import { type Choice, type Drafts, NotOpenApi, toolsFromOpenApi } from '#server/mcp/openapi/tools.ts';
import { run as parsedYaml } from '#server/platform/yaml/yaml.thread.ts';

/** A description as it is, or its text in JSON or YAML. */
export type Described = { document: unknown } | { text: string };
export type Drafted = { drafts: Drafts } | { problem: string };

/** The tools of a description, or in a sentence part what is wrong with it. */
export function run({ described, choice }: { described: Described; choice: Choice }): Drafted {
  let document: unknown;
  try {
    document = 'text' in described ? parsed(described.text) : described.document;
  } catch {
    return { problem: 'is neither valid JSON nor valid YAML' };
  }
  try {
    return { drafts: toolsFromOpenApi(document, choice) };
  } catch (error) {
    if (error instanceof NotOpenApi) return { problem: error.message };
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parsedYaml(text);
  }
}
