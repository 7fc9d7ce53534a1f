/** The languages in which a call is written down, the first one first. */
export const LANGUAGES = [
  { id: 'curl', label: 'curl', language: 'bash' },
  { id: 'node', label: 'Node', language: 'javascript' },
  { id: 'python', label: 'Python', language: 'python' },
  { id: 'go', label: 'Go', language: 'text' },
  { id: 'php', label: 'PHP', language: 'text' },
  { id: 'ruby', label: 'Ruby', language: 'text' },
] as const;
