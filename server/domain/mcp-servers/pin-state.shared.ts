/** Whether the upstream still describes a tool as it was approved. */
export function pinStateOf(tool: { pinned_hash: string | null; upstream_hash: string | null }): 'unpinned' | 'pinned' | 'changed' {
  if (tool.pinned_hash === null) return 'unpinned';
  return tool.upstream_hash === null || tool.upstream_hash === tool.pinned_hash ? 'pinned' : 'changed';
}
