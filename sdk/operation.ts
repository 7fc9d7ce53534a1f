/** One operation as service-cli needs it: a row of sdk/generated/operations.json. */
export type Operation = {
  /** Family and verb: `routes.list`, `collections.variables.create`. */
  id: string;
  method: string;
  /** Below the base URL, with `{name}` for parameters. */
  path: string;
  summary: string;
  description: string;
  params: readonly Field[];
  body: { required: boolean; fields: readonly Field[] } | null;
  /** Needs no credential. */
  anonymous: boolean;
  /** How further results are fetched: by page number, by cursor, or not at all. */
  paging: 'pages' | 'feed' | null;
  /** Takes something away that can't be brought back. */
  destructive: boolean;
};

export type Field = {
  name: string;
  in: 'path' | 'query' | 'header' | 'body';
  /** `list` is an array of texts, `json` anything else with a structure. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'json';
  description: string;
  required: boolean;
  nullable: boolean;
  values?: readonly string[];
  /** Never taken from the command line, where other processes and the shell's history see it. */
  secret?: true;
  /** Needed although not required, unless this other field is given. */
  neededWithout?: string;
};

export type Family = { name: string; description: string };
export type OperationTable = { version: string; families: readonly Family[]; operations: readonly Operation[] };
