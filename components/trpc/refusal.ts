import type { DashboardError } from '#server/trpc/from-operation.ts';

/** The refusal inside a tRPC error, or a sentence for a lost connection. */
export function refusalOf(error: unknown): Pick<DashboardError, 'code' | 'message' | 'request_id' | 'status'> & { retry_after?: number } {
  const data = (error as { data?: DashboardError | null } | null)?.data;
  if (data?.code) return data;
  return {
    code: 'dependency_unavailable',
    message: 'Sallyport did not answer. Check your connection and try again.',
    request_id: '',
    status: 503,
  };
}
