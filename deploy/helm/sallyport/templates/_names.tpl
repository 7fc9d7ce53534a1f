{{- define "sallyport.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sallyport.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sallyport.labels" -}}
{{ include "sallyport.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "sallyport.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}

{{- define "sallyport.secret" -}}
{{ required "Set existingSecret to the name of a Secret with DATABASE_URL and MASTER_KEY_B64" .Values.existingSecret }}
{{- end }}

{{/* Of every pod. */}}
{{- define "sallyport.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* Of every container. */}}
{{- define "sallyport.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Settings of every container, without secrets. */}}
{{- define "sallyport.env" -}}
{{- $gateways := ternary .Values.gateway.autoscaling.maxReplicas .Values.gateway.replicas .Values.gateway.autoscaling.enabled -}}
{{- $own := dict
  "NODE_ENV" "production"
  "DATA_DIR" "/data"
  "LOG_SPILL_DIR" "/data/spill"
  "WEB_SOCKET" "/run/sallyport/web.sock"
  "PLANE_PORTS" ""
  "PORT" "4000"
  "BIND_ADDRESS" "0.0.0.0"
  "PROXY_BASE_HOST" .Values.hosts.proxyBaseHost
  "PUBLIC_API_URL" (printf "https://%s" .Values.hosts.api)
  "PUBLIC_SANDBOX_API_URL" (printf "https://%s" .Values.hosts.sandbox)
  "PUBLIC_ADMIN_URL" (printf "https://%s" .Values.hosts.admin)
  "SVC_GATEWAYS" ($gateways | toString)
  "METRICS_PORT" (.Values.metrics.port | toString)
  "METRICS_HOST" "0.0.0.0"
-}}
{{- range $name, $value := mergeOverwrite $own .Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}

{{/* What a container may write: its data and its temporary files. Sockets are shared within a pod. */}}
{{- define "sallyport.mounts" -}}
- { name: sockets, mountPath: /run/sallyport }
- { name: data, mountPath: /data, subPath: {{ . }} }
- { name: tmp, mountPath: /tmp, subPath: {{ . }} }
{{- end }}

{{- define "sallyport.volumes" -}}
- name: sockets
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
- name: data
  emptyDir: { sizeLimit: 4Gi }
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
{{- end }}
