import { inSlices, type Steps } from '#server/kernel/slices.ts';
import { type HeaderParameter, headerParameters } from './parameter-headers.ts';
import { toolHash } from './pinning.ts';
import { readTool, type Tool, textsOf } from './tools.ts';

/** A tool of an upstream's list, and what is looked at of it. */
export type ReadTool = {
  readonly tool: Tool;
  readonly hash: string;
  readonly parameters: readonly HeaderParameter[];
  /** What a model reads of it. */
  readonly text: string;
  /** Of its JSON. */
  readonly characters: number;
};

/** The tools of a list that can be shown, each name once, in their order. In slices: a list may have 8 MiB. */
export const readTools = (values: readonly unknown[]): Promise<ReadTool[]> => inSlices(reading(values));

function* reading(values: readonly unknown[]): Steps<ReadTool[]> {
  const tools = new Map<string, ReadTool>();
  for (const value of values) {
    yield;
    const tool = readTool(value);
    if (!tool || tools.has(tool.name)) continue;
    const hash = hashOf(tool);
    if (hash === undefined) continue;
    yield;
    const parameters = headerParameters(tool.inputSchema) ?? [];
    tools.set(tool.name, { tool, hash, parameters, text: textsOf(tool).join('\n'), characters: JSON.stringify(tool).length });
  }
  return [...tools.values()];
}

/** Undefined for a definition that no canonical text holds, such as one with half of a character: it can't be approved, so it isn't shown. */
function hashOf(tool: Tool): string | undefined {
  try {
    return toolHash(tool);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
