export type Finding = { state: 'OK' | 'WARN' | 'FAIL'; says: string; next?: string };
export const ok = (says: string): Finding => ({ state: 'OK', says });
export const warn = (says: string, next: string): Finding => ({ state: 'WARN', says, next });
export const bad = (says: string, next: string): Finding => ({ state: 'FAIL', says, next });
