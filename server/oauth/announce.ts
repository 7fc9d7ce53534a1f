/** Says in which workspace and space something ended: the gateway forgets what it remembers of it before it relays the answer. */
export type Announce = (changed: { tenant_id: string; sandbox: boolean }) => void;
