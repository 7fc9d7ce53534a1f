/** Ports of services that are no web servers (interface rule 60 §5.4). */
const OTHER_SERVICES: ReadonlySet<number> = new Set([2375, 2376, 3306, 5432, 5433, 6379, 9200, 11211, 27017]);

/** Whether deliveries and workflows may send to this port, whatever the address. */
export const isOpenPort = (scheme: string, port: number): boolean =>
  port === 443 || (port === 80 && scheme === 'http') || (port >= 1_024 && port <= 65_535 && !OTHER_SERVICES.has(port));
