import { isByVerb } from '#server/kernel/action-scopes.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { processState } from '#server/kernel/process-state.ts';
import { toolsFromOpenApi } from '#server/mcp/openapi/tools.ts';
import type { ToolOperation } from '#server/mcp/tool-operation.ts';
import { openApiDocument } from '../openapi/document.ts';
import { v1Operations } from '../operations.ts';

/** An operation of the Management API as a tool: its name, words and schema are those of the API reference. */
export type ManagementTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  row: AnyOperation;
  operation: ToolOperation;
};

/** By name, in the order of the table. */
export const managementTools = (): ReadonlyMap<string, ManagementTool> => {
  kept.tools ??= new Map(made().map((tool) => [tool.name, tool]));
  return kept.tools;
};
const kept = processState('management-tools', (): { tools?: ReadonlyMap<string, ManagementTool> } => ({}));

function made(): ManagementTool[] {
  const offered = v1Operations.filter(isOffered);
  const rows = new Map(offered.map((row) => [row.id, row]));
  const { tools } = toolsFromOpenApi(openApiDocument([]), { include: [...rows.keys()], headers: false, most: offered.length });
  return tools.flatMap(({ tool_name, description, input_schema, operation }) => {
    const row = rows.get(tool_name);
    return row
      ? [{ name: nameOf(row), title: row.summary, description: description ?? row.summary, inputSchema: input_schema, row, operation }]
      : [];
  });
}

/**
 * Plain reads and changes. What answers with a credential or a stored secret, or works with keys and vaults, is not for a model; nor are exports, and what
 * a person always confirms. Where a verb finds that one change needs it, the verb refuses that change.
 */
const isOffered = ({ kind, needs, stream, step_up, body }: AnyOperation): boolean =>
  (kind === 'read' || kind === 'change') &&
  needs !== 'anonymous' &&
  needs !== 'client_token' &&
  !stream &&
  (!step_up || isByVerb(step_up)) &&
  !body?.source;

/** Letters that every model accepts in a name. */
const nameOf = ({ id }: AnyOperation): string => id.replaceAll(/[^A-Za-z0-9_-]/g, '_');
