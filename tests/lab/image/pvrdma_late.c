// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pvrdma_late: a PVRDMA device of the lab that answers late.
 *
 * QEMU's device answers a command inside the register write. While this module's parameter late_ms is
 * not 0, vmw_pvrdma gets each answer that it waits for so many milliseconds later: the answer and the
 * interrupt that tells of it, as from a host that takes so long for each command, one after the other.
 * As there, an answer that comes when the driver has given its command up is taken for the answer to
 * the command that the driver waits for by then.
 *
 * The driver is the kernel's own: a kprobe sends the interrupt to the handler of this file. No device
 * may be removed while an answer is out.
 */
#include <linux/interrupt.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "pvrdma.h"

static unsigned int late_ms;
module_param(late_ms, uint, 0644);
MODULE_PARM_DESC(late_ms, "milliseconds by which answers are late; less than the driver's limit of 10000");

static struct workqueue_struct *queue;
static atomic_t out = ATOMIC_INIT(0);	/* answers that are on their way */
static DEFINE_SPINLOCK(lock);
static unsigned long busy_until;	/* in jiffies; under the lock */

struct answer {
	struct delayed_work work;
	struct pvrdma_dev *dev;
	union pvrdma_cmd_resp resp;
};

static void deliver(struct work_struct *work)
{
	struct answer *answer = container_of(to_delayed_work(work), struct answer, work);
	struct pvrdma_dev *dev = answer->dev;

	spin_lock(&dev->cmd_lock);
	memcpy(dev->resp_slot, &answer->resp, sizeof(answer->resp));
	spin_unlock(&dev->cmd_lock);
	complete(&dev->cmd_done);
	kfree(answer);
	if (atomic_dec_and_test(&out))
		wake_up_var(&out);
}

/* In jiffies, from now: when the answer to a command is there that takes so long. */
static unsigned long next_answer(unsigned int late)
{
	unsigned long flags, now, until;

	spin_lock_irqsave(&lock, flags);
	now = jiffies;
	if (atomic_read(&out) == 0 || time_before(busy_until, now))
		busy_until = now;
	until = busy_until += msecs_to_jiffies(late);
	spin_unlock_irqrestore(&lock, flags);
	return until - now;
}

/* Of these the driver waits for no answer: a late one would always be taken for another's. */
static bool is_awaited(u32 ack)
{
	switch (ack) {
	case PVRDMA_CMD_DESTROY_PD_RESP_NOOP:
	case PVRDMA_CMD_DESTROY_MR_RESP_NOOP:
	case PVRDMA_CMD_DESTROY_CQ_RESP_NOOP:
	case PVRDMA_CMD_DESTROY_UC_RESP_NOOP:
	case PVRDMA_CMD_CREATE_BIND_RESP_NOOP:
	case PVRDMA_CMD_DESTROY_BIND_RESP_NOOP:
		return false;
	}
	return true;
}

/* In place of pvrdma_intr0_handler, with MSI-X. */
static irqreturn_t late_intr0_handler(int irq, void *dev_id)
{
	struct pvrdma_dev *dev = dev_id;
	const union pvrdma_cmd_resp *resp = dev->resp_slot;
	const unsigned int late = READ_ONCE(late_ms);
	struct answer *answer = NULL;
	unsigned long delay;

	if (late != 0 && is_awaited(resp->hdr.ack))
		answer = kmalloc(sizeof(*answer), GFP_ATOMIC);
	if (answer == NULL) {
		complete(&dev->cmd_done);
		return IRQ_HANDLED;
	}
	INIT_DELAYED_WORK(&answer->work, deliver);
	answer->dev = dev;
	answer->resp = *resp;
	delay = next_answer(late);
	atomic_inc(&out);
	queue_delayed_work(queue, &answer->work, delay);
	return IRQ_HANDLED;
}

static int redirect(struct kprobe *probe, struct pt_regs *regs)
{
	instruction_pointer_set(regs, (unsigned long)late_intr0_handler);
	return 1;
}

/* With it the probe may change where the function goes on, also where it is one of ftrace's. */
static void after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name = "pvrdma_intr0_handler",
	.pre_handler = redirect,
	.post_handler = after,
};

static int __init late_init(void)
{
	int err;

	queue = alloc_ordered_workqueue("pvrdma_late", 0);
	if (queue == NULL)
		return -ENOMEM;
	err = register_kprobe(&probe);
	if (err)
		destroy_workqueue(queue);
	return err;
}

static void __exit late_exit(void)
{
	unregister_kprobe(&probe);
	wait_var_event(&out, atomic_read(&out) == 0);
	destroy_workqueue(queue);
}

module_init(late_init);
module_exit(late_exit);
MODULE_DESCRIPTION("Late answers of PVRDMA devices, for tests");
MODULE_LICENSE("GPL");
