import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

const SHOWN = ['active', 'paused', 'archived'] as const;

/** What the address of the list of gateways holds; the page reads it on the server, the view in the browser. */
export const gatewaySearch = {
  page: parseAsInteger.withDefault(1),
  open: parseAsStringLiteral(['new', 'agent']),
  status: parseAsStringLiteral(SHOWN),
};
export const gatewayQuery = ({ page, status }: { page: number; status: (typeof SHOWN)[number] | null }) => ({
  page,
  per_page: 50,
  ...(status && { status }),
});

/** The gateways whose agents are listed. */
export const ALL_GATEWAYS = { per_page: 100, sort: 'name', order: 'asc' } as const;
export const agentSearch = { q: parseAsString.withDefault(''), open: parseAsStringLiteral(['new']) };

/** The agents of one gateway. */
export const agentsOf = (id: string) => ({ id, per_page: 100, sort: 'name', order: 'asc' }) as const;
