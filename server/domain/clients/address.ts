// The rules of client addresses moved to the kernel, where every family may use them.
export * from '#server/kernel/address.ts';
