// rc is one end of a reliable connection, for tests of an agent of photon at the other:
//
//	rc MODE DEVICE GID-INDEX MTU TIMEOUT PSN MESSAGES BYTES < orders
//
// It makes a queue pair and a piece of memory, says what the peer must know,
//
//	here QPN ADDRESS RKEY
//
// takes the same of the peer as a line, with its first PSN and its IPv4 address,
//
//	QPN PSN ADDRESS RKEY IPV4
//
// says `ready`, waits for a line, does what MODE says, says `done` and waits for another. It ends with 0 if the data that came
// are right:
//
//	write   writes the messages to the peer's memory, one behind the other
//	send    sends them
//	read    reads as many bytes from the peer's memory, which has the pattern of message 0
//	receive has buffers for the messages from the start on, and looks at what came
//	target  looks at what the peer wrote into the memory
//	source  has the messages in its memory for the peer to read
//
// The pattern: the 64-bit word at offset 8j of message m, lowest byte first, is (2^32 m + j + 1) * 0x9E3779B97F4A7C15.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
	printf("failed: %s\n", what);
	exit(1);
}

static uint8_t pattern(uint64_t message, uint64_t at)
{
	uint64_t word = ((message << 32) + at / 8 + 1) * UINT64_C(0x9E3779B97F4A7C15);
	return word >> (8 * (at % 8));
}

static void fill(uint8_t *b, size_t messages, size_t bytes)
{
	for (size_t m = 0; m < messages; m++)
		for (size_t i = 0; i < bytes; i++)
			b[m * bytes + i] = pattern(m, i);
}

// check compares messages with the pattern. What is read is one long message.
static void check(const uint8_t *b, size_t messages, size_t bytes)
{
	for (size_t m = 0; m < messages; m++)
		for (size_t i = 0; i < bytes; i++)
			if (b[m * bytes + i] != pattern(m, i)) {
				printf("message %zu, byte %zu: %02x, not %02x\n", m, i, b[m * bytes + i], pattern(m, i));
				die("the data are wrong");
			}
	printf("verified %zu messages of %zu bytes\n", messages, bytes);
}

// complete waits until the oldest piece of work is done.
static void complete(struct ibv_cq *cq, size_t want)
{
	struct ibv_wc wc;
	int n;
	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	if (n < 0)
		die("poll");
	if (wc.status != IBV_WC_SUCCESS) {
		printf("work %" PRIu64 ": %s\n", wc.wr_id, ibv_wc_status_str(wc.status));
		exit(1);
	}
	if (wc.wr_id != want)
		die("work is done out of order");
}

int main(int argc, char **argv)
{
	if (argc != 9)
		die("usage");
	setvbuf(stdout, NULL, _IOLBF, 0);
	const char *mode = argv[1];
	int gid_index = atoi(argv[3]), mtu = atoi(argv[4]), timeout = atoi(argv[5]);
	uint32_t psn = strtoul(argv[6], NULL, 0);
	size_t messages = strtoul(argv[7], NULL, 0), bytes = strtoul(argv[8], NULL, 0);

	int n = 0;
	struct ibv_device **devices = ibv_get_device_list(&n);
	struct ibv_context *ctx = NULL;
	for (int i = 0; devices && i < n; i++)
		if (strcmp(ibv_get_device_name(devices[i]), argv[2]) == 0)
			ctx = ibv_open_device(devices[i]);
	if (!ctx)
		die("device");
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	size_t length = messages * bytes + 1; // none is empty
	uint8_t *memory = calloc(1, length);
	if (!pd || !memory)
		die("memory");
	if (!strcmp(mode, "write") || !strcmp(mode, "send") || !strcmp(mode, "source"))
		fill(memory, messages, bytes);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	struct ibv_cq *cq = ibv_create_cq(ctx, messages + 1, NULL, NULL, 0);
	if (!mr || !cq)
		die("memory region or completion queue");
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = {.max_send_wr = messages + 1, .max_recv_wr = messages + 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	if (!qp)
		die("queue pair");
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("queue pair to INIT");
	struct ibv_sge sge = {.length = bytes, .lkey = mr->lkey};
	if (!strcmp(mode, "receive"))
		for (size_t m = 0; m < messages; m++) {
			sge.addr = (uintptr_t)memory + m * bytes;
			struct ibv_recv_wr wr = {.wr_id = m, .sg_list = &sge, .num_sge = 1}, *bad;
			if (ibv_post_recv(qp, &wr, &bad))
				die("buffer");
		}
	printf("here %u %" PRIuPTR " %u\n", qp->qp_num, (uintptr_t)memory, mr->rkey);

	uint32_t peer_qpn, peer_psn, rkey;
	uint64_t address;
	char ip[64], line[256];
	if (!fgets(line, sizeof line, stdin) ||
	    sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu32 " %63s", &peer_qpn, &peer_psn, &address, &rkey, ip) != 5)
		die("the peer's line");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = mtu == 4096 ? IBV_MTU_4096 : mtu == 2048 ? IBV_MTU_2048 : mtu == 1024 ? IBV_MTU_1024 : mtu == 512 ? IBV_MTU_512 : IBV_MTU_256,
		.dest_qp_num = peer_qpn, .rq_psn = peer_psn, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 64, .sgid_index = gid_index, .traffic_class = 106}},
	};
	memset(attr.ah_attr.grh.dgid.raw + 10, 0xff, 2);
	if (inet_pton(AF_INET, ip, attr.ah_attr.grh.dgid.raw + 12) != 1)
		die("the peer's address");
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("queue pair to RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = timeout, .retry_cnt = 7, .rnr_retry = 7, .sq_psn = psn, .max_rd_atomic = 4};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("queue pair to RTS");
	printf("ready\n");
	if (!fgets(line, sizeof line, stdin))
		die("the second line");

	int writes = !strcmp(mode, "write"), sends = !strcmp(mode, "send"), reads = !strcmp(mode, "read");
	if (writes || sends || reads) {
		for (size_t m = 0; m < messages; m++) {
			sge.addr = (uintptr_t)memory + m * bytes;
			struct ibv_send_wr wr = {
				.wr_id = m, .sg_list = &sge, .num_sge = 1, .opcode = writes ? IBV_WR_RDMA_WRITE : sends ? IBV_WR_SEND : IBV_WR_RDMA_READ,
				.wr.rdma = {.remote_addr = address + m * bytes, .rkey = rkey},
			}, *bad;
			if (ibv_post_send(qp, &wr, &bad))
				die("work");
		}
		for (size_t m = 0; m < messages; m++)
			complete(cq, m);
	}
	if (!strcmp(mode, "receive"))
		for (size_t m = 0; m < messages; m++)
			complete(cq, m);
	if (!strcmp(mode, "receive") || !strcmp(mode, "target"))
		check(memory, messages, bytes);
	if (reads)
		check(memory, 1, messages * bytes);
	printf("done\n");
	if (!fgets(line, sizeof line, stdin)) // until then it answers what the peer sends again
		die("the last line");
	return 0;
}
