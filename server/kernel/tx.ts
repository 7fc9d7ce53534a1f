import type { Prisma, PrismaClient } from '#server/generated/prisma/client.ts';

/** The Prisma client as the domain sees it. */
export type Db = PrismaClient;
/** A transaction inside `read`, `mutate` or `system`. */
export type Tx = Prisma.TransactionClient;
