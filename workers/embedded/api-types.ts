// Written by `npm run openapi`. Don't edit it: a test compares it.

import type { ApiCallRequest, ApiCallResult } from "./api-code.ts";
import type {
  ApiPublishRequest,
  ApiBroadcastRequest,
  ApiHistoryRequest,
  ApiHistoryRemoveRequest,
  ApiPresenceRequest,
  ApiPresenceStatsRequest,
  ApiDisconnectRequest,
  ApiUnsubscribeRequest,
  ApiSubscribeRequest,
  ApiRefreshRequest,
  ApiBlockUserRequest,
  ApiUnblockUserRequest,
  ApiRevokeTokenRequest,
  ApiInvalidateUserTokensRequest,
  ApiConnectionsRequest,
  ApiInfoRequest,
  ApiChannelsRequest,
  ApiUpdateUserStatusRequest,
  ApiGetUserStatusRequest,
  ApiDeleteUserStatusRequest,
  ApiMapPublishRequest,
  ApiMapRemoveRequest,
  ApiMapAppendRequest,
  ApiMapReadStateRequest,
  ApiMapReadStreamRequest,
  ApiMapStatsRequest,
  ApiMapClearRequest,
  ApiSharedPollPublishRequest,
  ApiMarkReadRequest,
  ApiUnreadRequest,
  ApiDeliveredRequest,
  ApiMarksRequest,
  ApiForgetUserRequest,
  ApiSetAudienceRequest,
  ApiAddAudienceRequest,
  ApiRemoveAudienceRequest,
  ApiAudienceRequest,
} from "./api-requests.ts";
import type {
  ApiPublishResult,
  ApiBroadcastResult,
  ApiHistoryResult,
  ApiPresenceResult,
  ApiPresenceStatsResult,
  ApiConnectionsResult,
  ApiInfoResult,
  ApiChannelsResult,
  ApiGetUserStatusResult,
  ApiMapPublishResult,
  ApiMapRemoveResult,
  ApiMapAppendResult,
  ApiMapReadStateResult,
  ApiMapReadStreamResult,
  ApiMapStatsResult,
  ApiMarkReadResult,
  ApiUnreadResult,
  ApiDeliveredResult,
  ApiMarksResult,
  ApiForgetUserResult,
  ApiSetAudienceResult,
  ApiAddAudienceResult,
  ApiRemoveAudienceResult,
  ApiAudienceResult,
} from "./api-results.ts";
import type {
  ApiWhyRequest,
  ApiWhyResult,
  ApiInspectRequest,
  ApiInspectResult,
} from "./api-inspections.ts";
import type {
  ApiUpdatePublicationRequest,
  ApiUpdatePublicationResult,
  ApiDeletePublicationRequest,
  ApiDeletePublicationResult,
  ApiEraseRequest,
  ApiEraseResult,
} from "./api-changes.ts";

/** The request of each method of the HTTP API, in its names. */
export interface ApiRequests {
  readonly publish: ApiPublishRequest;
  readonly broadcast: ApiBroadcastRequest;
  readonly history: ApiHistoryRequest;
  readonly history_remove: ApiHistoryRemoveRequest;
  readonly presence: ApiPresenceRequest;
  readonly presence_stats: ApiPresenceStatsRequest;
  readonly disconnect: ApiDisconnectRequest;
  readonly unsubscribe: ApiUnsubscribeRequest;
  readonly subscribe: ApiSubscribeRequest;
  readonly refresh: ApiRefreshRequest;
  readonly block_user: ApiBlockUserRequest;
  readonly unblock_user: ApiUnblockUserRequest;
  readonly revoke_token: ApiRevokeTokenRequest;
  readonly invalidate_user_tokens: ApiInvalidateUserTokensRequest;
  readonly connections: ApiConnectionsRequest;
  readonly info: ApiInfoRequest;
  readonly channels: ApiChannelsRequest;
  readonly update_user_status: ApiUpdateUserStatusRequest;
  readonly get_user_status: ApiGetUserStatusRequest;
  readonly delete_user_status: ApiDeleteUserStatusRequest;
  readonly why: ApiWhyRequest;
  readonly inspect: ApiInspectRequest;
  readonly update_publication: ApiUpdatePublicationRequest;
  readonly delete_publication: ApiDeletePublicationRequest;
  readonly erase: ApiEraseRequest;
  readonly map_publish: ApiMapPublishRequest;
  readonly map_remove: ApiMapRemoveRequest;
  readonly map_append: ApiMapAppendRequest;
  readonly map_read_state: ApiMapReadStateRequest;
  readonly map_read_stream: ApiMapReadStreamRequest;
  readonly map_stats: ApiMapStatsRequest;
  readonly map_clear: ApiMapClearRequest;
  readonly shared_poll_publish: ApiSharedPollPublishRequest;
  readonly mark_read: ApiMarkReadRequest;
  readonly unread: ApiUnreadRequest;
  readonly delivered: ApiDeliveredRequest;
  readonly marks: ApiMarksRequest;
  readonly forget_user: ApiForgetUserRequest;
  readonly set_audience: ApiSetAudienceRequest;
  readonly add_audience: ApiAddAudienceRequest;
  readonly remove_audience: ApiRemoveAudienceRequest;
  readonly audience: ApiAudienceRequest;
  readonly call: ApiCallRequest;
}

/** The `result` of each method's answer. */
export interface ApiResults {
  readonly publish: ApiPublishResult;
  readonly broadcast: ApiBroadcastResult;
  readonly history: ApiHistoryResult;
  readonly history_remove: object;
  readonly presence: ApiPresenceResult;
  readonly presence_stats: ApiPresenceStatsResult;
  readonly disconnect: object;
  readonly unsubscribe: object;
  readonly subscribe: object;
  readonly refresh: object;
  readonly block_user: object;
  readonly unblock_user: object;
  readonly revoke_token: object;
  readonly invalidate_user_tokens: object;
  readonly connections: ApiConnectionsResult;
  readonly info: ApiInfoResult;
  readonly channels: ApiChannelsResult;
  readonly update_user_status: object;
  readonly get_user_status: ApiGetUserStatusResult;
  readonly delete_user_status: object;
  readonly why: ApiWhyResult;
  readonly inspect: ApiInspectResult;
  readonly update_publication: ApiUpdatePublicationResult;
  readonly delete_publication: ApiDeletePublicationResult;
  readonly erase: ApiEraseResult;
  readonly map_publish: ApiMapPublishResult;
  readonly map_remove: ApiMapRemoveResult;
  readonly map_append: ApiMapAppendResult;
  readonly map_read_state: ApiMapReadStateResult;
  readonly map_read_stream: ApiMapReadStreamResult;
  readonly map_stats: ApiMapStatsResult;
  readonly map_clear: object;
  readonly shared_poll_publish: object;
  readonly mark_read: ApiMarkReadResult;
  readonly unread: ApiUnreadResult;
  readonly delivered: ApiDeliveredResult;
  readonly marks: ApiMarksResult;
  readonly forget_user: ApiForgetUserResult;
  readonly set_audience: ApiSetAudienceResult;
  readonly add_audience: ApiAddAudienceResult;
  readonly remove_audience: ApiRemoveAudienceResult;
  readonly audience: ApiAudienceResult;
  readonly call: ApiCallResult;
}
